package rules

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/plugins/internal/tables"
	"github.com/scrollery/scrollery/plugins/internal/words"
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
	rewrites []rewrite
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

func newLexicon(text string) *lexicon {
	all := tables.Sections(text)
	l := &lexicon{keys: map[string]map[string]string{"subject": {}}, longest: map[string]int{}, known: map[string]bool{}, spellings: map[string]bool{}, adverts: map[string]bool{}, meanings: map[string][]string{}}
	for _, e := range all["verb-lead"] {
		for _, verbs := range all["verb"] {
			for _, lead := range e.Phrases() {
				if e.Key == verbs.Key {
					all["cell"] = append(all["cell"], tables.Entry{Key: e.Key[:1], Text: lead + " " + strings.ReplaceAll(verbs.Text, ", ", ", "+lead+" ")})
				}
			}
		}
	}
	for section, entries := range all {
		l.keys[section] = map[string]string{}
		for _, e := range entries {
			for _, phrase := range e.Phrases() {
				if phrase[0] >= 'a' {
					phrase = strings.ReplaceAll(phrase, "-", " ")
				}
				l.keys[section][phrase] = strings.TrimPrefix(l.keys[section][phrase]+";"+e.Key, ";")
				l.longest[section] = max(l.longest[section], len(strings.Fields(phrase)))
				for w := range strings.FieldsSeq(phrase) {
					l.known[w] = l.known[w] || !strings.Contains(patterns, section)
				}
			}
		}
	}
	l.keys["cell"][","] = ","
	for _, phrase := range all["advert"][0].Phrases() {
		l.adverts[words.Stems(phrase)] = true
	}
	for _, e := range all["meaning"] {
		for _, name := range strings.Split(e.Key, ", ") {
			l.meanings[words.Stems(name)] = e.Phrases()
			l.keys["subject"][name], l.known[name] = "", true
		}
	}
	for _, e := range all["rewrite"] {
		from, to, _ := strings.Cut(e.Text, " => ")
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
func rows(start string, table, macros []tables.Entry) (out []row) {
	for _, e := range table {
		pattern := e.Text
		for _, macro := range slices.Backward(macros) { // a macro has those before it
			pattern = strings.ReplaceAll(pattern, "<"+macro.Key+">", macro.Text)
		}
		out = append(out, row{e.Key, regexp.MustCompile(start + pattern)})
	}
	return out
}

// patterns are the sections of them, and of other languages' words.
const patterns = "meaning rewrite macro bound cut scope clause"

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
