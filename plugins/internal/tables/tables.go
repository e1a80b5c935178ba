// Package tables reads what stages know as text: lines of a section, perhaps a key, and behind
// a colon words, or phrases with commas between them. A line that begins with a tab goes on with
// the one before, one that begins with # is for people.
package tables

import "strings"

// Entry is one line behind the name of its section.
type Entry struct{ Key, Text string }

// Sections are the entries of a text by their section.
func Sections(text string) map[string][]Entry {
	all := map[string][]Entry{}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", " "), "\n") {
		if head, words, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			section, key, _ := strings.Cut(head, " ")
			all[section] = append(all[section], Entry{key, words})
		}
	}
	return all
}

// Phrases are the words of an entry, or its phrases if it has commas.
func (e Entry) Phrases() []string {
	if !strings.Contains(e.Text, ",") {
		return strings.Fields(e.Text)
	}
	all := strings.Split(strings.TrimSuffix(e.Text, ","), ", ")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
