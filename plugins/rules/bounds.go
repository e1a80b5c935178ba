package rules

import (
	"slices"
	"strings"
	"time"
)

// piece is a word or phrase as the rows of bounds see it.
type piece struct {
	class byte
	// key says what it means, as the lexicon has it.
	key string
	token
	// next is the token behind it.
	next int
}

// tokenClasses are those of tokens that are no words.
var tokenClasses = [...]byte{number: 'n', length: 'l', date: 'd', mark: '.'}

// pieces gives the tokens their classes, and a class a piece.
func (l *lexicon) pieces(tokens []token) (all []piece, of string) {
	out := []byte{'.'}
	for i := 0; i < len(tokens); {
		p := piece{class: max('.', tokenClasses[tokens[i].kind]), token: tokens[i], next: i + 1}
		counted := strings.IndexByte("nyq", out[len(out)-1]) >= 0
		switch {
		case isYear(p.token):
			p.class = 'y'
		case p.kind == mark && p.text == ",":
			p.class = ','
		case p.kind == word || p.kind == mark:
			l.named(&p, tokens, i, counted)
		}
		all, out = append(all, p), append(out, p.class)
		i = p.next
	}
	return all, string(out[1:])
}

// named takes the longest phrase that has a meaning in bounds. counted says that a number is
// before it: "3 min", unlike "min 3".
func (l *lexicon) named(p *piece, tokens []token, at int, counted bool) {
	key, n := l.find("piece", tokens, at)
	behind := token{}
	if at+n < len(tokens) {
		behind = tokens[at+n]
	}
	numbered := behind.kind == number || strings.HasPrefix(l.key("piece", behind.text), "n ")
	measured := l.measure(behind.text)
	for _, one := range strings.Split(key, ";") {
		switch class, rest, _ := strings.Cut(one, " "); {
		case class == "", class == "q" && !counted, class == "o" && (numbered || behind.text == "than"): // "or over 60 seconds"
		case one == "n 1" && p.text != "one" && !measured: // "a", but in "a minute"
		case p.class == '.' || counted == (class == "u" || class == "q"):
			p.class, p.key, p.next, p.text = class[0], rest, at+n, strings.Join(wordsOf(tokens[at:at+n]), " ")
			if class == "n" {
				p.value = factor(rest)
			}
		}
	}
}

// measure reports a unit or a scale: what "a" is a number before.
func (l *lexicon) measure(text string) bool {
	key := ";" + l.key("piece", text)
	return strings.Contains(key, ";u ") || strings.Contains(key, ";q ")
}

// bound is the bound that starts at a piece, and how many pieces it has; none without one.
// now is the time that "this year" counts from.
func (l *lexicon) bound(all []piece, classes string, now time.Time) (found []Condition, n int) {
	for _, row := range l.bounds {
		m := row.re.FindStringSubmatchIndex(classes)
		if m == nil {
			continue
		}
		n := m[1]
		if len(m) > 2 && m[3] > 0 {
			n = m[3]
		}
		if row.name == "period" {
			found = l.period(all[:n], now)
		} else {
			found = count(all[:n], row.name == "bare")
		}
		if found != nil {
			return found, n
		}
	}
	return nil, 0
}

// quantity is a number in a rule with its unit, as far as it is said.
type quantity struct {
	value float64
	field Field
	unit  string
	// times is what a k or a million behind the number makes of it; 0 without one.
	times float64
	// scale is how many seconds the unit of a duration has.
	scale float64
	// plus marks a + behind the number; million a bare m: millions of views, else minutes.
	plus, percent, million bool
}

// comparison is a phrase that compares; age forces the number to be an age.
type comparison struct {
	op  string
	age bool
}

// count reads what a row of numbers has found. A condition without a comparison or a field
// takes those of its neighbours.
func count(pieces []piece, bare bool) []Condition {
	var all []quantity
	var c comparison
	var field Field
	ranged := false
	for _, p := range pieces {
		last := len(all) - 1
		switch p.class {
		case 'n', 'y':
			all = append(all, quantity{value: p.value, times: p.times, plus: p.plus, percent: p.percent, million: p.million})
		case 'l':
			all = append(all, quantity{value: p.value, field: Duration, scale: 1})
		case 'q':
			all[last].value, all[last].times = all[last].value*factor(p.key), factor(p.key)
		case 'h':
			all[last].value += 0.5 * max(1, all[last].scale)
		case '%':
			all[last].percent = true
		case 'u':
			if last < 0 { // "last month"
				all, last = []quantity{{value: 1}}, 0
			}
			if all[last].field == "" { // unlike "3:00 minutes"
				all[last].measured(p.key)
			}
		case 'v', 'f':
			if field = Field(p.key); last >= 0 {
				all[last].of(field)
			}
		case 'r':
			if field == Likes && p.text != "count" {
				field = LikeRate
			}
		case '-', 'b':
			ranged = ranged || p.class == 'b' || last == 0
		case 'c', 'o':
			if op, age, _ := strings.Cut(p.key, " "); c.op == "" {
				c = comparison{op, age != ""}
			}
		case 's':
			c.age = c.age || p.text != "long" && p.text != "each"
		}
	}
	q := &all[len(all)-1]
	if field != "" {
		q.of(field)
	}
	switch {
	case ranged:
		all[0].inherit(*q)
		low, ok1 := all[0].condition(comparison{">=", c.age})
		high, ok2 := q.condition(comparison{"<=", c.age})
		if !ok1 || !ok2 || low.Field != high.Field || c.op != "" {
			return nil
		}
		return []Condition{low, high}
	case len(all) > 1 && (q.field != Duration || all[0].field != Duration):
		return nil // "a week and 3 days"
	case len(all) > 1:
		q.value += all[0].value // "1 minute and 30 seconds"
	}
	if q.plus && c.op == "" {
		c.op = ">="
	}
	out, ok := q.condition(c)
	if !ok && (q.percent || q.field != "" || c.op == "" && !bare) {
		return nil
	}
	return []Condition{out}
}

// measured gives a quantity its unit.
func (q *quantity) measured(key string) {
	parts := strings.Split(key, "/")
	q.field, q.unit = Field(parts[0]), parts[2]
	if q.field == Duration {
		q.scale = factor(parts[1])
		q.value *= q.scale
	}
}

// of gives a quantity the field that was said beside it.
func (q *quantity) of(field Field) {
	switch {
	case q.million && field != Duration && field != Age:
		q.value, q.million, q.field = q.value*1e6, false, field
	case field == Age && q.field == Duration:
		q.field, q.unit, q.value = Age, "hours", q.value/3600
	case q.field == "" || q.percent:
		q.field = field
	}
	if q.field == Likes && q.percent {
		q.field = LikeRate
	}
}

// inherit takes the unit of the other end of a range.
func (q *quantity) inherit(other quantity) {
	if q.field != "" {
		return
	}
	if q.times == 0 && other.times > 0 && q.value < other.value/other.times { // "10-20k"
		q.value *= other.times
	}
	q.field, q.unit, q.percent, q.value = other.field, other.unit, other.percent, q.value*max(1, other.scale)
}

// condition makes a comparison with a quantity one; not ok without a unit.
func (q quantity) condition(c comparison) (Condition, bool) {
	if q.million && (q.field == "" || q.field == Duration) {
		if q.field == "" {
			q.scale = -1
		}
		q.field, q.value = Duration, q.value*60
	}
	out := Condition{Field: q.field, Op: c.op, Number: q.value, scale: q.scale}
	switch {
	case q.percent && (q.field == Engagement || q.field == LikeRate):
		out.Number = q.value / 100
	case q.percent || q.field == "" || q.field == Engagement || q.field == LikeRate, q.value > 0 && q.value < 1 && q.field != Age && q.field != Duration:
		return out, false
	case c.age && q.field == Duration:
		out.Field, out.Number, out.Unit = Age, q.value/3600, "hours"
	case c.age && q.field != Age, q.field == Age && q.unit == "":
		return out, false
	case q.field == Age:
		out.Unit = q.unit
	}
	return out, true
}

// period reads what a row of dates has found: "this year", "since March 2026", "2025 or later".
func (l *lexicon) period(pieces []piece, now time.Time) []Condition {
	first, last := pieces[0], pieces[len(pieces)-1]
	if first.class == 'T' {
		return []Condition{posted(">=", startOf(first.text, now))}
	}
	cut := slices.IndexFunc(pieces, func(p piece) bool { return p.class == '-' || p.class == '&' })
	if cut > 0 {
		from, _, ok1 := l.when(pieces[:cut], now)
		to, end, ok2 := l.when(pieces[cut+1:], now)
		for from.After(to) {
			from = from.AddDate(-1, 0, 0)
		}
		if !ok1 || !ok2 {
			return nil
		}
		return []Condition{posted(">=", from), posted("<", end)}
	}
	start, end, ok := l.when(pieces, now)
	said := first.key
	if last.class == 'e' || last.class == 'o' {
		said = last.key
	}
	if edge, older := edges[said]; older && (first.class != 'c' || said[1] == ' ') { // unlike "last December"
		said = edge
	}
	switch op, edge, _ := strings.Cut(said, " "); {
	case ok && edge == "start":
		return []Condition{posted(op, start)}
	case ok && edge == "end":
		return []Condition{posted(op, end)}
	case ok && first.class == 'I':
		return []Condition{posted(">=", start), posted("<", end)}
	}
	return nil
}

// edges are the ages of times: "older than 2025", "2025 or later".
var edges = map[string]string{"> age": "< start", "< age": ">= end", ">= age": "< end", "<= age": ">= start"}

func posted(op string, at time.Time) Condition {
	return Condition{Field: Posted, Op: op, At: at}
}

// when reads a day, a month with or without a year, or a year.
func (l *lexicon) when(pieces []piece, now time.Time) (start, end time.Time, ok bool) {
	year, month, day := 0, time.Month(0), 0
	for _, p := range pieces {
		switch {
		case p.class == 'd':
			return p.at, p.at.AddDate(0, 0, 1), true
		case p.class == 'y':
			year = int(p.value)
		case p.class == 'M':
			month = time.Month(factor(p.key))
		case p.class == 'n' && (p.kind != number || p.value < 1 || p.value > 31 || len(p.text) > 2 || p.plus || p.times > 0 || p.million):
			return start, end, false
		case p.class == 'n':
			day = int(p.value)
		}
	}
	switch {
	case month == 0:
		start = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return start, start.AddDate(1, 0, 0), year > 0
	case year == 0 && month > now.Month():
		year = now.Year() - 1 // the last one
	case year == 0:
		year = now.Year()
	}
	start = time.Date(year, month, max(1, day), 0, 0, 0, 0, time.UTC)
	if day > 0 {
		return start, start.AddDate(0, 0, 1), true
	}
	return start, start.AddDate(0, 1, 0), true
}

func isYear(t token) bool {
	return t.kind == number && len(t.text) == 4 && t.value >= 2000 && t.value <= 2100 && !t.plus
}

// startOf is when the year, month, week or day of now began.
func startOf(period string, now time.Time) time.Time {
	year, month, day := now.Date()
	switch period {
	case "this year":
		month, day = 1, 1
	case "this month":
		day = 1
	case "this week":
		day -= (int(now.Weekday()) + 6) % 7 // Monday
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
