package rules

import "strings"

// quantity is a number in a rule with its unit, as far as it is said.
type quantity struct {
	value float64
	field Field
	unit  string
	// times is what a k or a million behind the number makes of it; 0 without one.
	times float64
	// scale is how many seconds the unit of a duration has.
	scale float64
	// plus marks a + behind the number.
	plus    bool
	percent bool
	// million marks a bare m: millions of views, else minutes.
	million bool
}

// amountAt reads "10k", "1.5 million", "half an hour", "a", "ten"; next is what follows.
func (l *lexicon) amountAt(tokens []token, at int) (q quantity, next int, ok bool) {
	if at >= len(tokens) {
		return q, at, false
	}
	t := tokens[at]
	switch {
	case t.kind == length:
		return quantity{value: t.value, field: Duration, scale: 1}, at + 1, true
	case t.kind == number:
		q, next = quantity{value: t.value, times: t.times, plus: t.plus, percent: t.percent, million: t.million}, at+1
	case t.kind == word:
		value, known := l.numbers[t.text]
		if !known {
			return q, at, false
		}
		q, next = quantity{value: value}, at+1
		if t.text == "half" && next < len(tokens) && (tokens[next].text == "a" || tokens[next].text == "an") {
			next++
		}
		if (t.text == "a" || t.text == "an") && next < len(tokens) && (tokens[next].text == "couple" || tokens[next].text == "half") {
			q.value = l.numbers[tokens[next].text]
			next++
		}
		if next < len(tokens) && tokens[next].text == "of" {
			next++
		}
		if t.text == "a" || t.text == "an" {
			if next >= len(tokens) || !l.in("scale", tokens[next].text) && !l.measures(tokens[next].text) {
				return q, at, false
			}
		}
	default:
		return q, at, false
	}
	for next < len(tokens) && (tokens[next].kind == word || isMark(tokens[next], "½%")) {
		text := tokens[next].text
		switch {
		case text == "½":
			q.value += 0.5
		case l.in("scale", text):
			q.value, q.times = q.value*l.numbers[text], l.numbers[text]
		case text == "percent", text == "%":
			q.percent = true
		case text == "plus":
			q.plus = true
		default:
			return q, next, true
		}
		next++
	}
	return q, next, true
}

func (l *lexicon) measures(text string) bool {
	_, isUnit := l.units[text]
	_, isMetric := l.metrics[text]
	return isUnit || isMetric
}

// filler may stand between a number and its unit.
func (l *lexicon) filler(t token) bool {
	if t.kind == mark {
		return t.text == ":" || t.text == "=" || t.text == "~"
	}
	return t.kind == word && l.in("filler", t.text)
}

// unitAt reads the unit after a number.
func (l *lexicon) unitAt(tokens []token, at int, q *quantity) (next int) {
	from := at
	for at < len(tokens) && at < from+2 && (l.filler(tokens[at]) && tokens[at].text != "in" && tokens[at].text != "video" && tokens[at].text != "videos") {
		at++
	}
	if at >= len(tokens) || tokens[at].kind != word {
		return from
	}
	text := tokens[at].text
	if field, ok := l.rate(tokens, at); ok && q.percent {
		q.field = field
		at++
		if at < len(tokens) && (tokens[at].text == "rate" || tokens[at].text == "ratio") {
			at++
		}
		return at
	}
	if field, ok := l.metrics[text]; ok && !q.percent {
		q.named(field)
		at++
		if at < len(tokens) && tokens[at].text == "count" {
			at++
		}
		return at
	}
	u, ok := l.units[text]
	if !ok {
		return from
	}
	at++
	if at < len(tokens) && isMark(tokens[at], "½") { // "a minute and a half"
		q.value += 0.5
		at++
	}
	if u.field == Age {
		q.field, q.unit = Age, u.name
	} else if u.field != Duration {
		q.field = u.field
	} else {
		q.field, q.unit, q.scale = Duration, u.name, u.seconds
		q.value *= u.seconds
		if at+1 < len(tokens) && tokens[at].kind == number { // "1 minute 30 seconds"
			if smaller, ok := l.units[tokens[at+1].text]; ok && smaller.field == Duration && smaller.seconds < u.seconds {
				q.value += tokens[at].value * smaller.seconds
				at += 2
			}
		}
	}
	return at
}

func (l *lexicon) rate(tokens []token, at int) (Field, bool) {
	switch tokens[at].text {
	case "engagement":
		return Engagement, true
	case "like", "likes":
		return LikeRate, true
	}
	return "", false
}

// comparison is a phrase that compares.
type comparison struct {
	op string
	// age forces the number to be an age.
	age bool
}

// comparisonAt reads a comparison, the longest that fits.
func comparisonAt(tokens []token, at int) (c comparison, next int, ok bool) {
	if at >= len(tokens) {
		return c, at, false
	}
	if tokens[at].kind == mark {
		switch tokens[at].text {
		case ">", "<", ">=", "<=":
			return comparison{op: tokens[at].text}, at + 1, true
		case "=>":
			return comparison{op: ">="}, at + 1, true
		case "=<":
			return comparison{op: "<="}, at + 1, true
		}
		return c, at, false
	}
	if tokens[at].kind != word {
		return c, at, false
	}
	var words [5]string
	for i := range words {
		if at+i < len(tokens) && tokens[at+i].kind == word {
			words[i] = tokens[at+i].text
		} else {
			break
		}
	}
	for n := len(words); n > 0; n-- {
		if words[n-1] == "" {
			continue
		}
		if c, ok := english().comparisons[strings.Join(words[:n], " ")]; ok {
			return c, at + n, true
		}
	}
	return c, at, false
}

// condition makes a comparison with a quantity one; not ok without a unit.
func (q quantity) condition(c comparison) (Condition, bool) {
	if q.million && (q.field == "" || q.field == Duration) {
		q.field, q.value = Duration, q.value*60
	}
	out := Condition{Field: q.field, Op: c.op, Number: q.value}
	switch {
	case q.percent && (q.field == Engagement || q.field == LikeRate):
		out.Number = q.value / 100
	case q.percent || q.field == "":
		return out, false
	case c.age && q.field == Duration:
		out.Field, out.Number, out.Unit = Age, q.value/3600, "hours"
	case c.age && q.field != Age:
		return out, false
	case q.field == Age:
		out.Unit = q.unit
	}
	return out, true
}
