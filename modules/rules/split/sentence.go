package split

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences splits prose. A sentence ends with `.`, `!`, `?` or `…` before white
// space, and with their CJK forms anywhere; brackets and quotes that close there
// belong to it. Abbreviations, initials, numbers such as `No. 5` and an ellipsis
// before a small letter end nothing.
func sentences(text string) []string {
	var all []string
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isStop(r) {
			i += size
			continue
		}
		end := i + size
		for end < len(text) { // a run of stops, then what closes
			next, n := utf8.DecodeRuneInString(text[end:])
			if !isStop(next) && !strings.ContainsRune(`"'”’»)]）」』`, next) {
				break
			}
			end += n
		}
		if ends(text[start:i], text[i:end], text[end:]) {
			all = append(all, text[start:end])
			start = end
		}
		i = end
	}
	if rest := text[start:]; strings.TrimSpace(rest) != "" {
		all = append(all, rest)
	}
	return all
}

func isStop(r rune) bool { return strings.ContainsRune(".!?…。！？", r) }

// ends reports whether a sentence ends with the stop between before and after.
func ends(before, stop, after string) bool {
	if strings.TrimSpace(after) == "" {
		return true
	}
	if strings.ContainsAny(stop, "。！？") {
		return true
	}
	next, _ := utf8.DecodeRuneInString(after)
	if !unicode.IsSpace(next) {
		return false // a decimal, an address, a file name
	}
	next, _ = utf8.DecodeRuneInString(strings.TrimLeftFunc(after, unicode.IsSpace))
	if strings.HasPrefix(stop, "..") || strings.HasPrefix(stop, "…") {
		return !unicode.IsLower(next)
	}
	if stop != "." {
		return true
	}
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`("'“‘[`, r) })+1:]
	return !continues(strings.ToLower(word), next)
}

// continues reports whether the sentence goes on after a word with a full stop.
func continues(word string, next rune) bool {
	if utf8.RuneCountInString(word) == 1 { // an initial: J. Smith; but not plan 9. or vitamin C. followed by a small letter
		return unicode.IsLetter([]rune(word)[0]) && unicode.IsUpper(next)
	}
	switch word {
	case "e.g", "eg", "i.e", "ie", "vs", "mr", "mrs", "ms", "dr", "prof", "st", "approx", "incl", "excl", "esp", "cf", "resp", "fig", "viz":
		return true
	case "no", "nr", "vol", "pt", "ch", "p", "pp", "sec":
		return unicode.IsDigit(next)
	case "etc", "inc", "ltd", "co", "corp", "jr", "sr", "al", "u.s", "u.k", "a.m", "p.m", "min", "max", "sec.", "hrs", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept", "sep", "oct", "nov", "dec":
		return !unicode.IsUpper(next) // they may end a sentence as well
	}
	return false
}
