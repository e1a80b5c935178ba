package rules

import (
	"slices"
	"strings"
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
	known := english()
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
		for i, s := range known.scripts {
			if unicode.Is(unicode.Scripts[s.text], r) {
				counts[known.scripts[i].key]++
				break
			}
		}
	}
	if letters < 4 {
		return nil
	}
	for _, s := range known.scripts {
		// One of many languages is in tags of texts in another, too.
		if n := counts[s.key]; s.text != "Han" && n*3 > letters && (!strings.Contains(s.key, " ") || n*2 > letters) {
			return strings.Fields(known.narrowed(s.key, strings.ToLower(text)))
		}
	}
	switch {
	case counts["zh"]*2 > letters && counts["ja"] > 0:
		return []string{"ja"}
	case counts["zh"]*2 > letters:
		return []string{"zh"}
	case latins*2 > letters:
		return known.latin(text)
	}
	return nil
}

// narrowed are the languages of a script that a text in lower case leaves.
func (l *lexicon) narrowed(languages, text string) string {
	for _, n := range l.narrow {
		if strings.ContainsAny(text, n.text) {
			return n.key
		}
	}
	if strings.Contains(languages, "ru ") && slices.ContainsFunc(strings.Fields(text), func(w string) bool { return l.key("common", w) == "ru" }) {
		return "ru"
	}
	return languages
}

// latin looks at a text without tags: it counts the words that are common in a language and rare in others.
func (l *lexicon) latin(text string) []string {
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
		for _, language := range strings.Split(l.key("common", w), ";") {
			scores[language] += 2
		}
	}
	for _, letter := range l.letters {
		if strings.ContainsAny(text, letter.text) {
			for _, language := range strings.Fields(letter.key) {
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
