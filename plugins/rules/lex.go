package rules

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/words"
)

// tokenKind is what a token of a rule is.
type tokenKind int

const (
	word tokenKind = iota
	number
	hashtag
	handle
	quoted
	date
	length // 1:30
	mark   // punctuation and comparison signs
)

// token is a piece of a rule. text is in lower case, without # and @.
type token struct {
	kind  tokenKind
	text  string
	value float64
	// times is what a suffix made of the number: 1e3 behind a k; 0 without one.
	times float64
	// plus marks a number with a + behind it, million one written with a bare m,
	// which may also mean minutes.
	plus, million, percent bool
	at                     time.Time
	// from and to are its place in the rule.
	from, to int
}

// longestToken is the most bytes of a token that is not in quotes.
const longestToken = 200

// shapes are what tokens look like, the first that fits. A group is the text of the token.
var shapes = []struct {
	kind tokenKind
	re   func() *regexp.Regexp
}{
	{date, lazy.Pattern(`^(20\d\d-\d\d-\d\d)\b`)},
	{length, lazy.Pattern(`^(\d{1,4}:\d\d)\b`)},
	{number, lazy.Pattern(`^\$?(\d{1,3}(?: \d{3})+\b|\.?\d+(?:[.,]\d+)*)((?i:k|mn?|mio|mil|bn?)\b)?(\+?)(%?)`)},
	{hashtag, lazy.Pattern(`^[#＃]([\pN_]*[\pL\pM][\pL\pN\pM_]*)`)}, // "#1 in sales" is none
	{handle, lazy.Pattern(`^@([\pL\pN\pM_](?:[\pL\pN\pM_.-]*[\pL\pN\pM_])?)(?:['’]s)?`)},
	{quoted, lazy.Pattern(`^(?:"([^"”]*)["”]|“([^”"“]*)[”"“]|„([^“”"]*)[“”"]|«([^»]*)»|['‘` + "`" + `]((?:[^'’]|['’][\pL\pN])*)['’])`)},
	{word, lazy.Pattern(`^((?i:w/o\b|w/)|(?i:min|max|approx)\.|[\pL\pN\pM_][\pL\pN\pM_'’]*)`)},
	{mark, lazy.Pattern(`^(>=|<=|=>|=<|->|.)`)},
}

// signs are other forms of marks, and words that are written as marks.
var signs = map[string]string{"/": ",", "=>": ">=", "=<": "<=", "–": "-", "—": "-", "≥": ">=", "≤": "<=", "min.": "min", "max.": "max", "approx.": "approx", "w/": "with", "w/o": "without"}

// lex splits a rule into tokens. It takes any text.
func lex(text string) (tokens []token) {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		switch {
		case r == '\n' && len(tokens) > 0:
			tokens = append(tokens, token{kind: mark, text: ".", from: at, to: at + 1})
			at++
		case unicode.IsSpace(r), r == '-' && words.Rune(before) && len(text) > at+1 && !strings.ContainsRune(" 0123456789>", rune(text[at+1])):
			at += size // a hyphen within a word is a space
		default:
			t := shaped(text[at:])
			t.from, t.to = at, at+t.to
			if t.kind != word || t.text != "" {
				tokens = append(tokens, t)
			}
			at = t.to
		}
	}
	return tokens
}

// shaped reads the token at the start of s.
func shaped(s string) token {
	fitting := shapes
	if r, _ := utf8.DecodeRuneInString(s); unicode.IsLetter(r) {
		fitting = shapes[len(shapes)-2:] // a word
	}
	for _, shape := range fitting {
		head := s
		if shape.kind != quoted {
			head = s[:min(len(s), longestToken)]
		}
		found := shape.re().FindStringSubmatch(head)
		if found == nil {
			continue
		}
		t := token{kind: shape.kind, text: strings.ToLower(strings.Join(found[1:], "")), to: len(found[0])}
		if sign, ok := signs[t.text]; ok {
			t.text = sign
		}
		switch t.kind {
		case word:
			t.text = strings.TrimSuffix(strings.Trim(strings.ReplaceAll(t.text, "’", "'"), "'"), "'s")
		case quoted:
			t.text = strings.TrimSpace(t.text)
		case date:
			at, err := time.Parse(time.DateOnly, t.text)
			if t.at = at; err != nil {
				continue
			}
		case length:
			minutes, seconds, _ := strings.Cut(t.text, ":")
			t.value = 60*decimal(minutes) + decimal(seconds)
		case number:
			t.text, t.value = strings.ToLower(found[1]+found[2]), decimal(found[1])
			t.million, t.plus, t.percent = found[2] == "m", found[3] != "", found[4] != ""
			if t.times = map[string]float64{"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "mil": 1e6, "b": 1e9, "bn": 1e9}[strings.ToLower(found[2])]; t.million {
				t.times = 0
			} else if t.times > 0 {
				t.value *= t.times
			}
		}
		return t
	}
	_, size := utf8.DecodeRuneInString(s)
	return token{to: size}
}

// decimal reads digits with points and commas: groups of three are thousands,
// else the last sign is the decimal point.
func decimal(s string) float64 {
	parts := strings.FieldsFunc(strings.ReplaceAll(s, " ", ""), func(r rune) bool { return r == ',' || r == '.' })
	last := len(parts) - 1
	whole, rest := strings.Join(parts[:last], ""), parts[last]
	if last > 0 && len(parts[0]) <= 3 && parts[0] != "0" && thousands().MatchString(s) || last == 0 && s[0] != '.' {
		whole, rest = whole+rest, ""
	}
	value, err := strconv.ParseFloat(whole+"."+rest, 64)
	if err != nil {
		return 0
	}
	return value
}

var thousands = lazy.Pattern(`^\d+(?:[.,]\d{3})+$`)
