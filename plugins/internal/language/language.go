// Package language guesses which languages a text is in, by its letters and commonest words.
package language

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/tables"
)

//go:embed languages.txt
var text string

// known is what is known of languages; see languages.txt.
type known struct {
	// common are the languages that a word is one of the commonest of, ; between them.
	common map[string]string
	// letters give the languages that some letters are of, scripts those of a script,
	// narrow those of letters within one; tongues are the languages with known words.
	letters, scripts, narrow []tables.Entry
	tongues                  []string
}

var table = sync.OnceValue(func() *known {
	all := tables.Sections(text)
	k := &known{common: map[string]string{}, letters: all["letters"], narrow: all["narrow"]}
	for _, e := range all["common"] {
		k.tongues = append(k.tongues, e.Key)
		for _, word := range e.Phrases() {
			k.common[word] = strings.TrimPrefix(k.common[word]+";"+e.Key, ";")
		}
	}
	for _, e := range append(all["script"], tables.Entry{Key: "zh", Text: "Han"}) {
		for name := range strings.FieldsSeq(e.Text) {
			k.scripts = append(k.scripts, tables.Entry{Key: e.Key, Text: name})
		}
	}
	return k
})

// Of are the languages that a word is one of the commonest of, ; between them; empty for others.
func Of(word string) string { return table().common[word] }

// Code is the two letters of a declared language: `en-US` is en.
func Code(declared string) string {
	short, _, _ := strings.Cut(strings.ReplaceAll(declared, "_", "-"), "-")
	switch short {
	case "nb", "nn":
		return "no"
	case "und", "zxx", "mul", "mis":
		return ""
	}
	if len(short) != 2 {
		return ""
	}
	return short
}

// Guess gives the languages that a text may be in, as two letters each.
func Guess(text string) []string {
	text = withoutTags(text)
	all := table()
	counts := map[string]int{}
	letters, latins := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		if letters++; r < 0x250 || unicode.Is(unicode.Latin, r) {
			latins++
			continue
		}
		for _, s := range all.scripts {
			if unicode.Is(unicode.Scripts[s.Text], r) {
				counts[s.Key]++
				break
			}
		}
	}
	if letters < 4 {
		return nil
	}
	for _, s := range all.scripts {
		// One of many languages is in tags of texts in another, too.
		if n := counts[s.Key]; s.Text != "Han" && n*3 > letters && (!strings.Contains(s.Key, " ") || n*2 > letters) {
			return strings.Fields(all.narrowed(s.Key, strings.ToLower(text)))
		}
	}
	switch {
	case counts["zh"]*2 > letters && counts["ja"] > 0:
		return []string{"ja"}
	case counts["zh"]*2 > letters:
		return []string{"zh"}
	case latins*2 > letters:
		return all.latin(text)
	}
	return nil
}

// narrowed are the languages of a script that a text in lower case leaves.
func (l *known) narrowed(languages, text string) string {
	for _, n := range l.narrow {
		if strings.ContainsAny(text, n.Text) {
			return n.Key
		}
	}
	if strings.Contains(languages, "ru ") && slices.ContainsFunc(strings.Fields(text), func(w string) bool { return l.common[w] == "ru" }) {
		return "ru"
	}
	return languages
}

// latin looks at a text without tags: it counts the words that are common in a language and rare in others.
func (l *known) latin(text string) []string {
	scores := map[string]int{}
	words := 0
	seen := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		words++
		if words > 400 {
			break
		}
		if before, _, elided := strings.Cut(strings.ReplaceAll(w, "’", "'"), "'"); elided && strings.Contains(" j n s t qu ", " "+before+" ") {
			scores["fr"] += 2
		}
		if len(w) < 2 || seen[w] {
			continue // a word counts once
		}
		seen[w] = true
		for _, language := range strings.Split(l.common[w], ";") {
			scores[language] += 2
		}
	}
	for _, letter := range l.letters {
		if strings.ContainsAny(text, letter.Text) {
			for _, language := range strings.Fields(letter.Key) {
				scores[language]++
			}
		}
	}
	best, second, language, other := 0, 0, "", ""
	for _, name := range l.tongues {
		switch score := scores[name]; {
		case score > best:
			best, second, language, other = score, best, name, language
		case score > second:
			second, other = score, name
		}
	}
	// Two known words, or one and a telling letter, and clearly more than any
	// other. The languages of the north share most words: one of their own decides.
	north := strings.Contains("da no sv", language) && strings.Contains("da no sv", other) && other != ""
	switch {
	case best < 3:
		return nil
	case best > second && (north || best*2 >= second*3):
		return []string{language}
	}
	var close []string
	for _, name := range l.tongues {
		if scores[name]*3 > best*2 {
			close = append(close, name)
		}
	}
	return close
}

// withoutTags leaves out hashtags, handles and addresses: they have no language.
func withoutTags(text string) string {
	var out strings.Builder
	for w := range strings.FieldsSeq(text) {
		if strings.HasPrefix(w, "#") || strings.HasPrefix(w, "@") || strings.Contains(w, "://") || strings.HasPrefix(w, "www.") {
			continue
		}
		if at := strings.IndexByte(w, '#'); at > 0 {
			w = w[:at]
		}
		out.WriteString(w)
		out.WriteByte(' ')
	}
	return out.String()
}
