package rules

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed english.txt
var englishText string

//go:embed grammar.txt
var grammarText string

// english is the lexicon; it is only read.
var english = sync.OnceValue(func() *lexicon { return newLexicon(englishText + "\n" + grammarText) })

// lexicon is the English that the compiler knows, and the grammar that it reads; see
// english.txt and grammar.txt.
type lexicon struct {
	// keys give the keys of a word or phrase by its section, ; between those of two lines; longest is how many words the longest phrase of a section has.
	keys    map[string]map[string]string
	longest map[string]int
	// known are all words of the grammar and of everyday rules.
	known map[string]bool
	// adverts are what rules call advertising, in stems.
	adverts map[string]bool
	// spellings are words that may be mistyped, true for those of subjects.
	spellings map[string]bool
	// meanings are what a subject, in stems, is also called.
	meanings map[string][]string
	// letters give the languages that some letters are of, scripts those of a script,
	// narrow those of letters within one; tongues are the languages with known words.
	letters, scripts, narrow []entry
	tongues                  []string
	rewrites                 []rewrite
	// bounds and clauses are the rows of the grammar, the first that fits is taken.
	bounds, cuts, heads, clauses []row
}

// rewrite is another way to write what a pattern finds.
type rewrite struct {
	re *regexp.Regexp
	to string
}

// row is a pattern of the grammar and what is made of it.
type row struct {
	name string
	re   *regexp.Regexp
}

// entry is one line of the lexicon behind the name of its section.
type entry struct{ key, text string }

// sections reads the lexicon's text.
func sections(text string) map[string][]entry {
	all := map[string][]entry{}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", " "), "\n") {
		if head, words, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			section, key, _ := strings.Cut(head, " ")
			all[section] = append(all[section], entry{key, words})
		}
	}
	return all
}

// split takes words apart, or phrases with commas between them.
func split(text string) []string {
	if !strings.Contains(text, ",") {
		return strings.Fields(text)
	}
	return mapped(strings.Split(strings.TrimSuffix(text, ","), ", "), strings.TrimSpace)
}

func newLexicon(text string) *lexicon {
	all := sections(text)
	l := &lexicon{keys: map[string]map[string]string{"subject": {}}, longest: map[string]int{}, known: map[string]bool{}, spellings: map[string]bool{}, adverts: map[string]bool{}, meanings: map[string][]string{}, letters: all["letters"], narrow: all["narrow"]}
	for _, e := range all["verb-lead"] {
		for _, verbs := range all["verb"] {
			for _, lead := range split(e.text) {
				if e.key == verbs.key {
					all["cell"] = append(all["cell"], entry{e.key[:1], lead + " " + strings.ReplaceAll(verbs.text, ", ", ", "+lead+" ")})
				}
			}
		}
	}
	for section, entries := range all {
		l.keys[section] = map[string]string{}
		for _, e := range entries {
			for _, phrase := range split(e.text) {
				if phrase[0] >= 'a' {
					phrase = strings.ReplaceAll(phrase, "-", " ")
				}
				l.keys[section][phrase] = strings.TrimPrefix(l.keys[section][phrase]+";"+e.key, ";")
				l.longest[section] = max(l.longest[section], len(strings.Fields(phrase)))
				for w := range strings.FieldsSeq(phrase) {
					l.known[w] = l.known[w] || !strings.Contains(tables, section)
				}
			}
		}
	}
	l.keys["cell"][","] = ","
	for _, phrase := range split(all["advert"][0].text) {
		l.adverts[stems(phrase)] = true
	}
	for _, e := range all["meaning"] {
		for _, name := range strings.Split(e.key, ", ") {
			l.meanings[stems(name)] = split(e.text)
			l.keys["subject"][name], l.known[name] = "", true
		}
	}
	for _, e := range all["common"] {
		l.tongues = append(l.tongues, e.key)
	}
	for _, e := range append(all["script"], entry{"zh", "Han"}) {
		for name := range strings.FieldsSeq(e.text) {
			l.scripts = append(l.scripts, entry{e.key, name})
		}
	}
	for _, e := range all["rewrite"] {
		from, to, _ := strings.Cut(e.text, " => ")
		l.rewrites = append(l.rewrites, rewrite{regexp.MustCompile("(?i)" + from), strings.ReplaceAll(to, "@", " ")})
	}
	l.bounds, l.clauses = rows("^", all["bound"], all["macro"]), rows("^", all["clause"], all["macro"])
	l.cuts, l.heads = rows("", all["cut"], all["macro"]), rows("", all["scope"], all["macro"])
	for section, subject := range map[string]bool{"name": false, "piece": false, "cell": false, "topic": true, "subject": true, "advert": true} {
		for phrase := range l.keys[section] {
			for w := range strings.FieldsSeq(phrase) {
				if _, had := l.spellings[w]; !had || !subject {
					l.spellings[w] = subject
				}
			}
		}
	}
	return l
}

// rows are the patterns of a table, with their macros written out.
func rows(start string, table, macros []entry) (out []row) {
	for _, e := range table {
		pattern := e.text
		for _, macro := range slices.Backward(macros) { // a macro has those before it
			pattern = strings.ReplaceAll(pattern, "<"+macro.key+">", macro.text)
		}
		out = append(out, row{e.key, regexp.MustCompile(start + pattern)})
	}
	return out
}

// tables are the sections of other languages' words, and of patterns.
const tables = "common meaning letters script narrow rewrite macro bound cut scope clause"

// in reports whether a word or phrase is in a section.
func (l *lexicon) in(section, phrase string) bool {
	_, in := l.keys[section][phrase]
	return in
}

// key is the key of a word or phrase in a section; empty without one.
func (l *lexicon) key(section, phrase string) string { return l.keys[section][phrase] }

// find is the longest phrase of a section at a place: its key, and how many tokens it has.
func (l *lexicon) find(section string, tokens []token, at int) (key string, n int) {
	words := make([]string, 0, 8)
	for i := at; i < len(tokens) && len(words) < l.longest[section] && (tokens[i].kind == word || tokens[i].kind == mark); i++ {
		words = append(words, tokens[i].text)
	}
	for n := len(words); n > 0; n-- {
		if key, ok := l.keys[section][strings.Join(words[:n], " ")]; ok {
			return key, n
		}
	}
	return "", 0
}

func factor(key string) float64 {
	n, _ := strconv.ParseFloat(key, 64) // a test reads them all
	return n
}
