package formats

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// numberStyle is how one column writes its numbers. Its zero value reads what needs no
// knowledge of the column.
type numberStyle struct {
	// decimal is the decimal sign; 0 if no value of the column shows it.
	decimal byte
	// unsure says that numbers with one group, such as 1.000, cannot be told from
	// decimal fractions.
	unsure bool
	// languages are those of the column's table.
	languages map[string]bool
	// words may follow a number.
	words map[string]bool
	// units are the words for powers of ten that the other values of the column settle; 0 for
	// one that they leave open.
	units map[string]float64
	// scale is what the numbers count, such as thousands; 0 for ones.
	scale float64
}

// count is a number as people write it.
type count struct {
	number
	// rounded says that the text was an abbreviation.
	rounded bool
}

// hiddenWords are written for a count that is not known.
var hiddenWords = map[string]bool{
	"": true, "-": true, "-1.0": true, "--": true, "—": true, "–": true, "n/a": true, "na": true, "#n/a": true, "nan": true, "null": true, "none": true, "undefined": true, "hidden": true, "unknown": true,
	"not available": true, "private": true, "disabled": true, "?": true, "[none]": true, "nil": true, "<na>": true, "n.a.": true, "k.a.": true, "n.v.": true, "s/d": true, "nd": true, "n/d": true, "off": true, "turned off": true, "comments off": true, "likes hidden": true,
}

// units are the words for powers of ten, by the languages in which they differ.
var units = map[string][]unit{
	"k": {{1e3, ""}}, "tsd": {{1e3, ""}}, "tausend": {{1e3, ""}}, "tys": {{1e3, ""}}, "тыс": {{1e3, ""}}, "тис": {{1e3, ""}}, "tis": {{1e3, ""}}, "rb": {{1e3, ""}}, "ribu": {{1e3, ""}},
	"bin": {{1e3, ""}}, "mila": {{1e3, ""}}, "mille": {{1e3, ""}}, "miles": {{1e3, ""}}, "nghin": {{1e3, ""}}, "ngan": {{1e3, ""}}, "n": {{1e3, "vi"}}, "thousand": {{1e3, ""}}, "dzd": {{1e3, ""}},
	"tn": {{1e3, "sv"}}, "mii": {{1e3, ""}}, "hazar": {{1e3, ""}}, "ألف": {{1e3, ""}}, "الف": {{1e3, ""}}, "آلاف": {{1e3, ""}}, "千": {{1e3, ""}}, "천": {{1e3, ""}}, "हजार": {{1e3, ""}}, "พัน": {{1e3, ""}},
	"w": {{1e4, "zh"}}, "mil": {{1e3, "es pt"}, {1e6, "cs ro hr sk bg"}},
	"万": {{1e4, ""}}, "萬": {{1e4, ""}}, "만": {{1e4, ""}}, "หมื่น": {{1e4, ""}}, "แสน": {{1e5, ""}}, "lakh": {{1e5, ""}}, "lakhs": {{1e5, ""}}, "lac": {{1e5, ""}}, "lacs": {{1e5, ""}}, "लाख": {{1e5, ""}},
	"m": {{1e9, "id"}, {1e6, ""}}, "mio": {{1e6, ""}}, "mln": {{1e6, ""}}, "mi": {{1e6, ""}}, "mill": {{1e6, ""}}, "milj": {{1e6, ""}}, "mn": {{1e6, ""}}, "million": {{1e6, ""}}, "millions": {{1e6, ""}},
	"millionen": {{1e6, ""}}, "millones": {{1e6, ""}}, "millon": {{1e6, ""}}, "milhoes": {{1e6, ""}}, "milhao": {{1e6, ""}}, "milioni": {{1e6, ""}}, "milione": {{1e6, ""}}, "miljoen": {{1e6, ""}},
	"млн": {{1e6, ""}}, "jt": {{1e6, ""}}, "juta": {{1e6, ""}}, "tr": {{1e6, ""}}, "trieu": {{1e6, ""}}, "مليون": {{1e6, ""}}, "百万": {{1e6, ""}}, "百萬": {{1e6, ""}}, "백만": {{1e6, ""}}, "ล้าน": {{1e6, ""}}, "milyon": {{1e6, ""}},
	"crore": {{1e7, ""}}, "crores": {{1e7, ""}}, "cr": {{1e7, ""}}, "करोड": {{1e7, ""}}, "千万": {{1e7, ""}}, "億": {{1e8, ""}}, "亿": {{1e8, ""}}, "억": {{1e8, ""}},
	"b": {{1e3, "tr"}, {1e9, ""}}, "bn": {{1e9, ""}}, "bi": {{1e9, ""}}, "mrd": {{1e9, ""}}, "mld": {{1e9, ""}}, "md": {{1e9, ""}}, "mia": {{1e9, ""}}, "млрд": {{1e9, ""}}, "miliar": {{1e9, ""}}, "milyar": {{1e9, ""}},
	"mr": {{1e9, "tr"}}, "ty": {{1e9, "vi"}}, "billion": {{1e9, ""}}, "billions": {{1e9, ""}}, "milliarden": {{1e9, ""}}, "miliardy": {{1e9, ""}}, "مليار": {{1e9, ""}}, "tỷ": {{1e9, ""}},
	"e": {{1e3, "hu"}}, "ezer": {{1e3, ""}}, "χιλ": {{1e3, ""}}, "χιλιαδες": {{1e3, ""}}, "εκ": {{1e6, ""}}, "εκατ": {{1e6, ""}}, "εκατομμυρια": {{1e6, ""}}, "δισ": {{1e9, ""}},
	"אלף": {{1e3, ""}}, "אלפים": {{1e3, ""}}, "מיליון": {{1e6, ""}}, "מיליארד": {{1e9, ""}}, "هزار": {{1e3, ""}}, "میلیون": {{1e6, ""}}, "میلیارد": {{1e9, ""}},
	"хил": {{1e3, ""}}, "хиљ": {{1e3, ""}}, "tukst": {{1e3, ""}}, "tuh": {{1e3, ""}}, "hilj": {{1e3, ""}}, "milliers": {{1e3, ""}}, "milhares": {{1e3, ""}}, "migliaia": {{1e3, ""}}, "milers": {{1e3, ""}}, "duizend": {{1e3, ""}}, "mlrd": {{1e9, ""}}, "अरब": {{1e9, ""}}, "ہزار": {{1e3, ""}}, "لاکھ": {{1e5, ""}}, "کروڑ": {{1e7, ""}},
	"হাজার": {{1e3, ""}}, "লাখ": {{1e5, ""}}, "কোটি": {{1e7, ""}},
	"l": {{1e5, "hi"}}, "t": {{1e3, "da fi"}, {1e9, "vi"}},
}

type unit struct {
	factor float64
	// languages in which it has this factor; empty for all others.
	languages string
}

// unit is the power of ten that a word names; not ok if it is none, or if the languages of the
// table leave it open.
func (s *numberStyle) unit(word string) (factor float64, ok bool) {
	if factor, settled := s.units[word]; settled {
		return factor, factor > 0
	}
	all := units[word]
	for _, u := range all {
		for language := range strings.FieldsSeq(u.languages) {
			if s.languages[language] {
				return u.factor, true
			}
		}
	}
	for _, u := range all {
		if u.languages == "" {
			return u.factor, true
		}
	}
	return 0, false
}

// count reads a count. What is no number that can be told for sure is bad.
func (s *numberStyle) count(text string) count {
	if s.scale > 0 {
		return s.scaled(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return count{number: wholeNumber(n)}
	}
	text = strings.TrimSpace(plainCell(text))
	if hiddenWords[strings.ToLower(text)] {
		return count{}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return count{number: wholeNumber(n)}
	}
	bad := count{number: number{bad: true}}
	if first, rest, ok := strings.Cut(strings.ToLower(text), " "); ok && first == "no" && s.words[foldName(rest)] { // No views: too few, or none yet
		return count{}
	}
	text = plainDigits(text)
	if mantissa, _, ok := strings.Cut(strings.ToLower(text), "e"); ok && strings.Trim(mantissa, "0123456789.,") == "" && mantissa != "" {
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
		if err != nil || f < 0 || f > most || f != math.Trunc(f) {
			return bad
		}
		v := int64(f)
		return count{number{value: &v}, true}
	}
	value, rounded, ok := s.amount(text)
	// Fractions such as 1.2 million are not exact in binary, and some programs write them so.
	whole := math.Round(value)
	off := math.Abs(value - whole)
	if ok && value >= 0 && value <= most && (off < 1e-12*whole || rounded && off < 1e-6*max(1, whole) || off == 0) {
		n := int64(whole)
		return count{number{value: &n}, rounded || off > 0}
	}
	return bad
}

// scaled reads a count in the thousands or millions that the name of its column says.
func (s *numberStyle) scaled(text string) count {
	plain := *s
	plain.scale = 0
	text = strings.TrimSpace(plainCell(text))
	if hiddenWords[strings.ToLower(text)] {
		return count{}
	}
	value, rounded, ok := plain.amount(plainDigits(text))
	if value *= s.scale; !ok || rounded || value < 0 || value > most {
		return count{number: number{bad: true}} // 1.2M under (K) is neither
	}
	n := int64(math.Round(value))
	return count{number{value: &n}, true}
}

func wholeNumber(n int64) number {
	if n < 0 || n > most {
		return number{bad: true, hidden: n == -1}
	}
	return number{value: &n}
}

// amount reads numbers and the units behind them: `1.2M`, `1億2000万`, `45K views`.
func (s *numberStyle) amount(text string) (sum float64, rounded, ok bool) {
	if text = strings.TrimLeft(text, "~≈ "); strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		return 0, false, false // below zero, as accountants write it
	}
	if plus := strings.TrimSuffix(text, "+"); plus != text {
		text, rounded = plus, true
	}
	lead := strings.IndexFunc(text, isDigit)
	if lead > 0 && (s.follows(text[:lead]) || picture(text[:lead])) {
		text = text[lead:]
	}
	seen := false
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		digits := numberPart(text)
		if digits == 0 {
			return sum, rounded, seen && s.follows(text)
		}
		part := strings.TrimSpace(text[:digits])
		word := strings.TrimSpace(text[digits:])
		name, factor := s.unitAt(word)
		value, valid := s.digits(part, factor > 0)
		if !valid || seen && factor == 0 && !rounded {
			return 0, false, false
		}
		if seen = true; factor == 0 {
			sum += value
			return sum, rounded, word == "" || s.follows(word)
		}
		rounded = true
		text = strings.TrimLeft(word[name:], ".+ ")
		// A unit of a unit: 1,2 mil M.
		if more, second := s.unitAt(text); second > 0 && factor == 1e3 && second > factor {
			factor *= second
			text = text[more:]
		}
		sum += value * factor
	}
	return sum, rounded, seen
}

// picture reports symbols alone, such as an eye or a triangle before a count of views.
func picture(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.Is(unicode.So, r) && r != ' ' && r != '\ufe0f' })
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// follows reports whether a text is a word for what is counted.
func (s *numberStyle) follows(text string) bool {
	for _, word := range nameTokens(text) {
		if !s.words[word] && !s.words[foldName(text)] && !smallWords[word] {
			return false
		}
	}
	return len(nameTokens(text)) > 0 || strings.Trim(text, " .:()") == ""
}

// smallWords stand between a number and what it counts.
var smallWords = map[string]bool{
	"x": true, "de": true, "mal": true, "回": true, "次": true, "회": true, "人": true, "件": true, "個": true, "개": true, "건": true, "个": true, "d": true, "lan": true, "회수": true, "gefallt": true, "mir": true,
	"回視聴": true, "回再生": true, "次观看": true, "次觀看": true, "次播放": true, "명": true, "人观看": true,
}

// unitAt is the unit that a text begins with, and its length.
func (s *numberStyle) unitAt(text string) (length int, factor float64) {
	word := leadingLetters(text)
	if word == "" {
		return 0, 0
	}
	if word == "m" && s.languages["ca"] { // a thousand there, and M a million
		return len(word), 1e3
	}
	if factor, ok := s.unit(foldName(word)); ok {
		return len(word), factor
	}
	if factor, ok := s.unit(word); ok {
		return len(word), factor
	}
	if first := []rune(word)[0]; first < 0x2e80 && !unicode.Is(unicode.Thai, first) {
		return 0, 0
	}
	// No blanks divide these scripts: the longest unit counts.
	runes := []rune(word)
	for n := min(len(runes), 5); n > 0; n-- {
		if factor, ok := s.unit(string(runes[:n])); ok {
			return len(string(runes[:n])), factor
		}
	}
	return 0, 0
}

func leadingLetters(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// numberPart is the length of the digits and the signs between them at the start of a text.
func numberPart(text string) int {
	end := 0
	for end < len(text) {
		switch c := text[end]; {
		case c >= '0' && c <= '9':
		case (c == '.' || c == ',' || c == '\'' || c == '_') && end > 0 && end+1 < len(text) && isDigit(rune(text[end+1])):
		case c == ' ' && end > 0 && groupOf3(text[end+1:]):
		default:
			return end
		}
		end++
	}
	return end
}

func groupOf3(text string) bool {
	return len(text) >= 3 && isDigit(rune(text[0])) && isDigit(rune(text[1])) && isDigit(rune(text[2])) && (len(text) == 3 || !isDigit(rune(text[3])))
}

// digits reads a number with its signs. before says that a unit follows, so that it may have
// a fraction.
func (s *numberStyle) digits(text string, before bool) (value float64, ok bool) {
	plain := strings.NewReplacer(" ", "", "'", "", "_", "").Replace(text)
	dots, commas := strings.Count(plain, "."), strings.Count(plain, ",")
	decimal := byte(0)
	switch {
	case dots > 0 && commas > 0:
		if decimal = '.'; strings.LastIndexByte(plain, ',') > strings.LastIndexByte(plain, '.') {
			decimal = ','
		}
		if strings.Count(plain, string(decimal)) > 1 || s.decimal != 0 && s.decimal != decimal {
			return 0, false
		}
	case dots+commas == 1:
		at := strings.IndexAny(plain, ".,")
		sign, group := plain[at], len(plain)-at-1 == 3 && at <= 3 && plain[0] != '0'
		switch {
		case !group, s.decimal == sign:
			decimal = sign
		case s.decimal == 0 && (before || s.unsure):
			return 0, false // 1,234K and 1.000 are two numbers each
		}
		if decimal != 0 && s.decimal != 0 && decimal != s.decimal {
			return 0, false
		}
	}
	whole, fraction := plain, ""
	if decimal != 0 {
		at := strings.LastIndexByte(plain, decimal)
		whole, fraction = plain[:at], plain[at+1:]
	}
	if !grouped(whole) {
		return 0, false
	}
	value, err := strconv.ParseFloat(strings.NewReplacer(".", "", ",", "").Replace(whole)+"."+fraction+"0", 64)
	return value, err == nil
}

// grouped reports whether the groups of a number have 3 digits, or, in India, 2 before the last.
func grouped(whole string) bool {
	parts := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' })
	if strings.Contains(whole, ".") && strings.Contains(whole, ",") {
		return false
	}
	indian := false
	for i, part := range parts {
		switch {
		case len(parts) == 1, i == 0 && len(part) <= 3:
		case i == len(parts)-1 && len(part) == 3, i > 0 && len(part) == 3 && !indian:
		case i > 0 && i < len(parts)-1 && len(part) == 2 && len(parts[0]) <= 2:
			indian = true
		default:
			return false
		}
	}
	return len(parts) > 0
}

// styleOf finds out from all values of a column how it writes numbers.
func styleOf(values []string, style numberStyle) numberStyle {
	proof, seen := map[byte]int{}, map[string]bool{}
	weak, round, plainLong, plainAny := 0, 0, 0, 0
	for _, value := range values {
		text := plainDigits(strings.TrimSpace(plainCell(value)))
		if at := strings.IndexFunc(text, isDigit); at > 0 {
			text = text[at:]
		}
		end := numberPart(text)
		seen[foldName(leadingLetters(strings.TrimSpace(text[end:])))] = true
		text = strings.ReplaceAll(text[:end], " ", "")
		dots, commas := strings.Count(text, "."), strings.Count(text, ",")
		switch {
		case text == "":
		case dots > 0 && commas > 0:
			proof[text[strings.LastIndexAny(text, ".,")]]++
		case dots > 1:
			proof[',']++
		case commas > 1:
			proof['.']++
		case dots+commas == 1:
			at := strings.IndexAny(text, ".,")
			if len(text)-at-1 != 3 || at > 3 || text[0] == '0' {
				proof[text[at]]++
				continue
			}
			weak++
			if strings.HasSuffix(text, "000") {
				round++
			}
		default:
			if plainAny++; len(text) > 3 {
				plainLong++
			}
		}
	}
	switch {
	case proof['.'] > 0 && proof[','] == 0:
		style.decimal = '.'
	case proof[','] > 0 && proof['.'] == 0:
		style.decimal = ','
	}
	style.settleUnits(seen)
	// 1.000 beside 12345 may be no group of thousands, and so may 1.000 beside 2.000 alone; 1.234 is
	// one, since no count has a fraction.
	style.unsure = style.decimal == 0 && weak > 0 && weak == round && (plainLong > 0 || plainAny == 0) || len(proof) == 2
	return style
}

// settleUnits decides by the units of a column what those mean that differ by language: mil is
// a thousand beside M and a million beside tis., and B is a thousand beside Mn, as in Turkey.
func (s *numberStyle) settleUnits(seen map[string]bool) {
	has := func(words string) bool {
		return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return seen[w] })
	}
	s.units = map[string]float64{}
	switch _, known := s.unit("mil"); {
	case known:
	case has("m mi mln millones milhoes mill"):
		s.units["mil"] = 1e3
	case has("k tis tisic mii"):
		s.units["mil"] = 1e6
	}
	switch {
	case s.languages["tr"]:
	case has("mn") && !has("k"):
		s.units["b"] = 1e3
	case s.decimal == ',' && !has("k"):
		s.units["b"] = 0 // who writes 12,3 says Mrd., Md or bi
	}
}

// plainCell takes away what spreadsheets put around a text: `="…"` and a leading apostrophe.
func plainCell(text string) string {
	text = shownLetters(text)
	if len(text) > 0 && text[0] == '=' {
		if inner, ok := strings.CutPrefix(text, `="`); ok && strings.HasSuffix(inner, `"`) {
			return strings.TrimSuffix(inner, `"`)
		}
	}
	return strings.TrimPrefix(text, "'")
}

// shownLetters leaves out what cannot be seen, such as the blank of no width that is copied from web pages.
func shownLetters(text string) string {
	for i := range len(text) {
		if text[i] < 0x80 {
			continue
		}
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, text))
	}
	return text
}

// plainDigits writes the digits and signs of other scripts in ASCII, and every blank as a space.
func plainDigits(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case unicode.IsSpace(r), r == '\u202f', r == '\u2009':
			return ' '
		case r == '٫', r == '．':
			return '.'
		case r == '٬', r == '’', r == '‘':
			return '\''
		case r == '，':
			return ','
		case r == '＋':
			return '+'
		case r == '\u200f', r == '\u200e', r == '\u2066', r == '\u2069':
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + digitOf(r)
		case r >= 'Ａ' && r <= 'ｚ':
			return r - 'Ａ' + 'A'
		}
		return r
	}, text)
}

// digitOf is the value of a digit: the digits of a script follow each other from its zero.
func digitOf(r rune) rune {
	for _, block := range unicode.Nd.R16 {
		if r >= rune(block.Lo) && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if r >= rune(block.Lo) && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	return 0
}
