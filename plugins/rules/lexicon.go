package rules

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed english.txt
var englishText string

// english is the lexicon; it is only read.
var english = sync.OnceValue(func() *lexicon { return newLexicon(englishText) })

// lexicon is the English that the compiler knows; see english.txt.
type lexicon struct {
	// sets are the lists of words by their sections; noise, place, judgement and
	// stop are the most used of them.
	sets                          map[string]map[string]bool
	noise, place, judgement, stop map[string]bool
	platforms, formats            map[string]string
	languages, after              map[string]string
	metrics, fields               map[string]Field
	units                         map[string]unit
	numbers                       map[string]float64
	months                        map[string]int
	comparisons                   map[string]comparison
	leads                         map[string][]lead
	tails, welcomes, passing      map[string][][]string
	asides, reasons               map[string][][]string
	parts                         []partNames
	// verdicts are verbs that refuse what was said before them.
	verdicts map[string]bool
	// adverts are what rules call advertising, in stems.
	adverts map[string]bool
	// misspelt gives the words of rules by how they are mistyped, and ? for those of subjects.
	misspelt map[string]string
	// meanings are what a subject, in stems, is also called.
	meanings map[string][]string
	// common gives the languages in which a word is among the commonest.
	common map[string][]string
	// letters give the languages that some letters are of.
	letters []entry
}

type unit struct {
	field Field
	// seconds of a duration; name of an age.
	seconds float64
	name    string
}

// mode is how a clause is meant.
type mode int

const (
	plain  mode = iota // no verb: "under 60 seconds"
	want               // "find …", "show me …"
	soft               // "prefer …"
	must               // "only …"
	never              // "skip …"
	except             // "… except …"
	unless             // "… unless …"
	flip               // "not", "without": what it means depends on what it follows
	stray              // what cannot be judged from a record: "rank by …"
)

var modes = []string{"plain", "want", "soft", "must", "never", "except", "unless", "flip", "stray"}

// lead is a phrase that says how what follows is meant.
type lead struct {
	words []string
	mode  mode
	// start holds verbs to the start of a clause: elsewhere they are content.
	start bool
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

// each gives the words of entries with their keys.
func each[V any](entries []entry, value func(key string) V) map[string]V {
	out := map[string]V{}
	for _, e := range entries {
		for _, w := range strings.Fields(e.text) {
			out[w] = value(e.key)
		}
	}
	return out
}

func newLexicon(text string) *lexicon {
	all := sections(text)
	same := func(key string) string { return key }
	field := func(key string) Field { return Field(key) }
	number := func(key string) float64 {
		n, _ := strconv.ParseFloat(key, 64) // a test reads them all
		return n
	}
	l := &lexicon{
		sets: map[string]map[string]bool{}, platforms: each(all["platform"], same), languages: each(all["language"], same), after: each(all["after"], same), formats: each(all["format"], same),
		metrics: each(all["metric"], field), fields: each(all["field"], field), numbers: each(all["number"], number),
		months: each(all["month"], func(key string) int { return int(number(key)) }),
		units: each(all["unit"], func(key string) unit {
			parts := strings.Split(key, "/")
			return unit{Field(parts[0]), number(parts[1]), parts[2]}
		}),
		comparisons: map[string]comparison{}, adverts: map[string]bool{}, meanings: map[string][]string{}, common: map[string][]string{}, letters: all["letters"],
		welcomes: phrases(split(all["welcome"][0].text)), passing: phrases(split(all["passing"][0].text)),
		asides: phrases(split(all["aside"][0].text)), reasons: phrases(split(all["reason"][0].text)), verdicts: map[string]bool{},
	}
	for name, entries := range all {
		l.sets[name] = each(entries, func(string) bool { return true })
	}
	l.noise, l.place, l.judgement, l.stop = l.sets["noise"], l.sets["place"], l.sets["judgement"], l.sets["stop"]
	for _, e := range all["compare"] {
		op, age, _ := strings.Cut(e.key, " ")
		for _, phrase := range split(e.text) {
			l.comparisons[phrase] = comparison{op: op, age: age != ""}
		}
	}
	for _, phrase := range split(all["advert"][0].text) {
		l.adverts[stems(phrase)] = true
	}
	for _, phrase := range split(all["verdict"][0].text) {
		l.verdicts[phrase] = true
	}
	tails := split(all["tail"][0].text)
	for verb := range l.sets["tail-verb"] {
		for _, lead := range split(all["tail-lead"][0].text) {
			tails = append(tails, lead+" "+verb)
		}
	}
	l.tails, l.leads = phrases(tails), leads(all["lead"])
	for _, e := range all["part"] {
		l.parts = append(l.parts, partNames{Part(strings.ReplaceAll(e.key, "_", " ")), phrases(split(e.text))})
	}
	for _, e := range all["meaning"] {
		for _, name := range split(e.key) {
			l.meanings[stems(name)] = split(e.text)
		}
	}
	for _, e := range all["common"] {
		for w := range each([]entry{e}, same) {
			l.common[w] = append(l.common[w], e.key)
		}
	}
	l.misspelt = l.mistyped()
	return l
}

// in reports whether a word is in a section.
func (l *lexicon) in(section, word string) bool { return l.sets[section][word] }

// split takes phrases with commas between them apart.
func split(text string) []string { return strings.Split(text, ", ") }

// leads gives the leads by their first word, the longest first.
func leads(entries []entry) map[string][]lead {
	byWord := map[string][]lead{}
	for _, e := range entries {
		name, start, _ := strings.Cut(e.key, " ")
		for _, phrase := range split(e.text) {
			words := strings.Fields(phrase)
			byWord[words[0]] = append(byWord[words[0]], lead{words, mode(slices.Index(modes, name)), start != ""})
		}
	}
	for _, all := range byWord {
		slices.SortStableFunc(all, func(a, b lead) int { return len(b.words) - len(a.words) })
	}
	return byWord
}

// phrases gives phrases by their first word, the longest first.
func phrases(all []string) map[string][][]string {
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	byWord := map[string][][]string{}
	for _, phrase := range all {
		words := strings.Fields(phrase)
		byWord[words[0]] = append(byWord[words[0]], words)
	}
	return byWord
}
