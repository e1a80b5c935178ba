package rules

import (
	"strings"
	"unicode"
)

// languageOf is the language that the source declares, else the one that the text
// shows; empty where it cannot be told.
func (f *facts) languageOf() string {
	if f.language == nil {
		language := code(f.declared)
		if language == "" {
			language = Detect(f.text)
		}
		f.language = &language
	}
	return *f.language
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

// Detect tells the language of a text by its script and its commonest words. It
// is careful: a text with few known words, or as many of two languages, has none.
func Detect(text string) string {
	counts := scripts(text)
	letters := 0
	for _, n := range counts {
		letters += n
	}
	if letters < 4 {
		return ""
	}
	for _, s := range []struct{ script, language string }{
		{"kana", "ja"}, {"hangul", "ko"}, {"thai", "th"}, {"hebrew", "he"}, {"greek", "el"}, {"devanagari", "hi"}, {"arabic", "ar"},
	} {
		if counts[s.script]*3 > letters {
			if s.script == "arabic" && strings.ContainsAny(text, "پچژگٹڈڑ") {
				return "" // Persian, Urdu and others share the script
			}
			return s.language
		}
	}
	if counts["han"]*2 > letters {
		if counts["kana"] > 0 {
			return "ja"
		}
		return "zh"
	}
	if counts["cyrillic"]*2 > letters {
		return cyrillic(strings.ToLower(text))
	}
	if counts["latin"]*2 <= letters {
		return ""
	}
	return latin(text)
}

func scripts(text string) map[string]int {
	counts := map[string]int{}
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case r < 0x250 || unicode.Is(unicode.Latin, r):
			counts["latin"]++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			counts["kana"]++
		case unicode.Is(unicode.Han, r):
			counts["han"]++
		case unicode.Is(unicode.Hangul, r):
			counts["hangul"]++
		case unicode.Is(unicode.Cyrillic, r):
			counts["cyrillic"]++
		case unicode.Is(unicode.Arabic, r):
			counts["arabic"]++
		case unicode.Is(unicode.Hebrew, r):
			counts["hebrew"]++
		case unicode.Is(unicode.Thai, r):
			counts["thai"]++
		case unicode.Is(unicode.Greek, r):
			counts["greek"]++
		case unicode.Is(unicode.Devanagari, r):
			counts["devanagari"]++
		default:
			counts["other"]++
		}
	}
	return counts
}

func cyrillic(text string) string {
	switch {
	case strings.ContainsAny(text, "їєґ"):
		return "uk"
	case strings.ContainsAny(text, "ыэё"):
		return "ru"
	case strings.ContainsAny(text, "ћђџљњјѓќѕўі"):
		return ""
	}
	for _, w := range strings.Fields(text) {
		switch w {
		case "что", "как", "это", "не", "для", "вы", "мы", "они":
			return "ru"
		}
	}
	return ""
}

// latin counts the words that are common in a language and rare in its neighbours.
func latin(text string) string {
	scores := map[string]int{}
	words := 0
	common := commonWords()
	seen := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(withoutTags(text)), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		words++
		if words > 400 {
			break
		}
		if before, _, elided := strings.Cut(strings.ReplaceAll(w, "’", "'"), "'"); elided && strings.Contains(" j n s t qu ", " "+before+" ") {
			scores["fr"] += 2
		}
		if len(w) < 2 || seen[w] {
			continue // a word that is said again tells nothing new
		}
		seen[w] = true
		for _, language := range common[w] {
			scores[language] += 2
		}
	}
	for _, letter := range []struct{ letters, languages string }{
		{"ñ¿¡", "es"},
		{"ß", "de"},
		{"ø", "da no"},
		{"å", "da no sv"},
		{"æ", "da no"},
		{"ãõ", "pt"},
		{"ł", "pl"},
		{"ęąż", "pl"},
		{"ğışİ", "tr"},
		{"ăț", "ro"},
		{"őű", "hu"},
		{"ěřů", "cs"},
		{"œêèû", "fr"},
		{"ơưđ", "vi"},
	} {
		if strings.ContainsAny(text, letter.letters) {
			for _, language := range strings.Fields(letter.languages) {
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
	// other. The languages of the north share most words: one of their own tells.
	north := strings.Contains("da no sv", language) && strings.Contains("da no sv", other) && other != ""
	if best < 3 || best == second || !north && best*2 < second*3 {
		return ""
	}
	return language
}

var latinNames = [...]string{"en", "es", "fr", "de", "it", "pt", "nl", "da", "sv", "no", "fi", "pl", "tr", "id", "vi", "cs", "ro", "hu"}

// withoutTags leaves out hashtags, handles and addresses: they tell no language.
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
