package rules

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
	plus, million bool
	percent       bool
	at            time.Time
	// from and to are its place in the rule.
	from, to int
}

// lex splits a rule into tokens. It takes any text.
func lex(text string) []token {
	var tokens []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		t, n := one(text[i:], i == 0 || !wordRune(lastRune(text[:i])))
		if n == 0 {
			i += size
			continue
		}
		t.from, t.to = i, i+n
		if t.kind != word || t.text != "" {
			tokens = append(tokens, t)
		}
		i += n
	}
	return tokens
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// one reads the token at the start of s; 0 for none. fresh says that no word ends there.
func one(s string, fresh bool) (token, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == '#' || r == '＃':
		n := runLength(s[size:], wordRune)
		return token{kind: hashtag, text: strings.ToLower(s[size : size+n])}, keep(n, size)
	case r == '@':
		n := runLength(s[size:], func(r rune) bool { return wordRune(r) || r == '.' || r == '-' })
		name := strings.TrimRight(s[size:size+n], ".-")
		n = keep(len(name), size)
		for _, owner := range []string{"'s", "’s"} {
			if strings.HasPrefix(s[n:], owner) {
				n += len(owner)
			}
		}
		return token{kind: handle, text: strings.ToLower(name)}, n
	case strings.ContainsRune(`"“”„«`, r) || (fresh && strings.ContainsRune("'‘`", r)):
		if inner, n := quotation(s, r, size); n > 0 {
			return token{kind: quoted, text: strings.ToLower(inner)}, n
		}
		return token{}, size
	case r >= '0' && r <= '9', (r == '$' || r == '.') && len(s) > size && isDigit(s[size]):
		return numeral(s)
	case wordRune(r):
		n := runLength(s, func(r rune) bool { return wordRune(r) || r == '\'' || r == '’' })
		text := strings.ReplaceAll(strings.ToLower(s[:n]), "’", "'")
		text = strings.TrimSuffix(strings.Trim(text, "'"), "'s")
		if (text == "min" || text == "max" || text == "approx") && strings.HasPrefix(s[n:], ".") {
			n++ // an abbreviation, not the end of a sentence
		}
		return token{kind: word, text: text}, n
	}
	for _, sign := range []string{">=", "<=", "=>", "=<"} {
		if strings.HasPrefix(s, sign) {
			return token{kind: mark, text: sign}, len(sign)
		}
	}
	if r == '-' && !fresh && len(s) > 1 && !isDigit(s[1]) && s[1] != ' ' {
		return token{}, size // a hyphen within a word
	}
	switch r {
	case '–', '—':
		return token{kind: mark, text: "-"}, size
	case '≥':
		return token{kind: mark, text: ">="}, size
	case '≤':
		return token{kind: mark, text: "<="}, size
	}
	return token{kind: mark, text: string(r)}, size
}

func keep(n, size int) int {
	if n == 0 {
		return 0
	}
	return n + size
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func runLength(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// quotation reads a quoted text up to its closing mark.
func quotation(s string, open rune, size int) (inner string, n int) {
	closing := map[rune]string{'"': `"”`, '“': `”"“`, '”': `”"`, '„': `“”"`, '«': "»", '\'': "'’", '‘': "’'", '`': "`'"}[open]
	for i, r := range s[size:] {
		if !strings.ContainsRune(closing, r) {
			continue
		}
		end := size + i + utf8.RuneLen(r)
		after, _ := utf8.DecodeRuneInString(s[end:])
		if open == '\'' && end < len(s) && wordRune(after) {
			continue // an apostrophe
		}
		return strings.TrimSpace(s[size : size+i]), end
	}
	return "", 0
}

// numeral reads 10k, 1.5M, 10,000, 5%, 10+, 1:30, 2026-03-01.
func numeral(s string) (token, int) {
	if len(s) >= 10 {
		if at, err := time.Parse("2006-01-02", s[:10]); err == nil {
			return token{kind: date, at: at, text: s[:10]}, 10
		}
	}
	start := 0
	if s[0] == '$' {
		start = 1
	}
	n := start
	for n < len(s) && (isDigit(s[n]) || ((s[n] == '.' || s[n] == ',') && n+1 < len(s) && isDigit(s[n+1]))) {
		n++
	}
	for n-start <= 3+4 && n+3 < len(s) && s[n] == ' ' && isDigit(s[n+1]) && isDigit(s[n+2]) && isDigit(s[n+3]) && (n+4 == len(s) || !isDigit(s[n+4])) && strings.Trim(s[start:n], "0123456789 ") == "" && n-start != 4 {
		n += 4 // 10 000
	}
	if n+2 < len(s) && s[n] == ':' && isDigit(s[n+1]) && isDigit(s[n+2]) {
		minutes, err := strconv.Atoi(s[start:n])
		if err == nil {
			seconds := int(s[n+1]-'0')*10 + int(s[n+2]-'0')
			return token{kind: length, value: float64(minutes*60 + seconds), text: s[:n+3]}, n + 3
		}
	}
	t := token{kind: number, value: decimal(s[start:n]), text: s[start:n]}
	letters := runLength(s[n:], unicode.IsLetter)
	switch suffix := s[n : n+letters]; {
	case suffix == "m":
		t.million = true
		n += letters
	default:
		if t.times = map[string]float64{"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "mil": 1e6, "b": 1e9, "bn": 1e9}[strings.ToLower(suffix)]; t.times > 0 {
			t.value *= t.times
			n += letters
		}
	}
	if n < len(s) && s[n] == '+' {
		t.plus = true
		n++
	}
	if n < len(s) && s[n] == '%' {
		t.percent = true
		n++
	}
	return t, n
}

// decimal reads digits with points and commas: groups of three are thousands,
// else the last sign is the decimal point.
func decimal(s string) float64 {
	s = strings.ReplaceAll(s, " ", "")
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '.' })
	groups := len(parts) > 1 && len(parts[0]) <= 3 && parts[0] != "0"
	for _, part := range parts[1:] {
		groups = groups && len(part) == 3
	}
	text := strings.Join(parts, "")
	if !groups && len(parts) > 1 {
		last := parts[len(parts)-1]
		text = strings.Join(parts[:len(parts)-1], "") + "." + last
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return value
}
