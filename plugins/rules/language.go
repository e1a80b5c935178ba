package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// languagesOf are the language that the source declares, else those that the text
// may be in; none where it is unclear.
func (f *facts) languagesOf() []string {
	if f.languages == nil {
		if language := code(f.declared); language != "" {
			f.languages = []string{language}
		} else {
			f.languages = append([]string{}, guess(f.text)...)
		}
	}
	return f.languages
}

// spoken compares what a text may be in with what is asked for: Danish or
// Norwegian is surely not English, and surely one of Danish, Norwegian and Swedish.
func spoken(possible, wanted []string) answer {
	among := 0
	for _, language := range possible {
		if slices.Contains(wanted, language) {
			among++
		}
	}
	switch {
	case len(possible) == 0 || among > 0 && among < len(possible):
		return unknown
	case among > 0:
		return yes
	}
	return no
}

// foreign reports a rule in another language: it has as many words that are common there alone
// as words that are common in English alone.
func (l *lexicon) foreign(tokens []token) bool {
	foreign, english := 0, 0
	for _, t := range tokens {
		if t.kind != word || len([]rune(t.text)) < 3 {
			continue
		}
		switch languages := l.key("common", t.text); {
		case languages == "en":
			english++
		case languages != "" && !strings.Contains(languages, "en") && !l.knows(t.text):
			foreign++
		}
	}
	return foreign > 0 && foreign >= english
}

// knows reports a word that some section of the lexicon has, beside the commonest and names in other languages.
func (l *lexicon) knows(text string) bool {
	return l.known[text]
}

// code is the two letters of a declared language: `en-US` is en.
func code(declared string) string {
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

// guess gives the languages that a text may be in, as two letters each.
func guess(text string) []string {
	text = withoutTags(text)
	counts := map[*script]int{}
	letters, latins, han := 0, 0, 0
	known := scripts()
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		switch {
		case r < 0x250 || unicode.Is(unicode.Latin, r):
			latins++
		case unicode.Is(unicode.Han, r):
			han++
		default:
			for i := range known {
				if unicode.In(r, known[i].tables...) {
					counts[&known[i]]++
					break
				}
			}
		}
	}
	if letters < 4 {
		return nil
	}
	for i := range known {
		if n := counts[&known[i]]; n*3 > letters && (!known[i].mixed || n*2 > letters) {
			return known[i].languagesOf(strings.ToLower(text))
		}
	}
	switch {
	case han*2 > letters && counts[&known[0]] > 0:
		return []string{"ja"}
	case han*2 > letters:
		return []string{"zh"}
	case latins*2 > letters:
		return latin(text)
	}
	return nil
}

// script is one whose letters belong to few languages.
type script struct {
	tables    []*unicode.RangeTable
	languages string
	// mixed scripts are in tags of texts in another language.
	mixed bool
	// narrow leaves fewer languages for a text in lower case; nil where it cannot.
	narrow func(text string) string
}

func (s *script) languagesOf(text string) []string {
	languages := s.languages
	if s.narrow != nil {
		languages = s.narrow(text)
	}
	return strings.Fields(languages)
}

// scripts are those that are not Latin or Chinese, the Japanese first.
var scripts = sync.OnceValue(func() []script {
	of := func(languages string, tables ...*unicode.RangeTable) script {
		return script{tables: tables, languages: languages}
	}
	all := []script{
		of("ja", unicode.Hiragana, unicode.Katakana), of("ko", unicode.Hangul), of("th", unicode.Thai), of("he", unicode.Hebrew),
		of("el", unicode.Greek), of("hi", unicode.Devanagari), of("si", unicode.Sinhala), of("ta", unicode.Tamil),
		of("bn", unicode.Bengali), of("te", unicode.Telugu), of("kn", unicode.Kannada), of("ml", unicode.Malayalam),
		of("gu", unicode.Gujarati), of("pa", unicode.Gurmukhi), of("km", unicode.Khmer), of("lo", unicode.Lao),
		of("my", unicode.Myanmar), of("ka", unicode.Georgian), of("hy", unicode.Armenian), of("am", unicode.Ethiopic),
	}
	arabic, slavic := of("", unicode.Arabic), of("", unicode.Cyrillic)
	arabic.narrow, slavic.narrow, slavic.mixed = arabian, cyrillic, true
	return append(all, arabic, slavic)
})

// arabian knows Persian, Urdu and others by letters that Arabic does not have.
func arabian(text string) string {
	if strings.ContainsAny(text, "پچژگٹڈڑ") {
		return "fa ur ps ku"
	}
	return "ar"
}

func cyrillic(text string) string {
	switch {
	case strings.ContainsAny(text, "їєґ"):
		return "uk"
	case strings.ContainsAny(text, "ыэё"):
		return "ru"
	case strings.ContainsAny(text, "ћђџљњјѓќѕўі"):
		return "sr mk be uk"
	}
	for _, w := range strings.Fields(text) {
		switch w {
		case "что", "как", "это", "не", "для", "вы", "мы", "они":
			return "ru"
		}
	}
	return "ru uk bg sr mk be"
}

// latin looks at a text without tags: it counts the words that are common in a language and rare in others.
func latin(text string) []string {
	scores := map[string]int{}
	words := 0
	known := english()
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
		for _, language := range strings.Split(known.key("common", w), ";") {
			scores[language] += 2
		}
	}
	for _, letter := range known.letters {
		if strings.ContainsAny(text, letter.text) {
			for _, language := range strings.Fields(letter.key) {
				scores[language]++
			}
		}
	}
	best, second, language, other := 0, 0, "", ""
	for _, name := range latinNames {
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
	for _, name := range latinNames {
		if scores[name]*3 > best*2 {
			close = append(close, name)
		}
	}
	return close
}

var latinNames = [...]string{"en", "es", "fr", "de", "it", "pt", "nl", "da", "sv", "no", "fi", "pl", "tr", "id", "vi", "cs", "ro", "hu"}

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
