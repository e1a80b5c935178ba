package rules

// numericAt reads a condition with a number or a date that starts at a place.
// pending is one whose unit is not said here; it may be said in a later part.
func (p *parser) numericAt(tokens []token, at int) (found []Condition, pending *Condition, next int) {
	if cs, next := p.dateAt(tokens, at); next > at {
		return cs, nil, next
	}
	if cs, next := p.rangeAt(tokens, at, ""); next > at {
		return cs, nil, next
	}
	if cs, next := p.namedAt(tokens, at); next > at {
		return cs, nil, next
	}
	if c, after, ok := comparisonAt(tokens, at); ok {
		if cs, waits, next := p.comparedAt(tokens, after, c); next > after {
			return cs, waits, next
		}
	}
	return p.postfixAt(tokens, at)
}

// comparedAt reads what follows a comparison: "10k views", "views of 10k", "a minute".
func (p *parser) comparedAt(tokens []token, at int, c comparison) (found []Condition, pending *Condition, next int) {
	from := at
	field, hasField := Field(""), false
	for at < len(tokens) && at < from+5 {
		if f, ok := p.fieldAt(tokens, at); ok && !hasField {
			field, hasField = f, true
			at++
			continue
		}
		if p.filler(tokens[at]) && tokens[at].text != "a" {
			at++
			continue
		}
		break
	}
	q, next, ok := p.amountAt(tokens, at)
	if !ok {
		// "last month", "past year"
		if c.age && at < len(tokens) && tokens[at].kind == word && (p.mode != never || p.strict) { // "nothing from last year" may mean the calendar's
			if u, known := p.units[tokens[at].text]; known {
				q = quantity{value: 1, field: u.field, unit: u.name}
				if u.field == Duration {
					q.value = u.seconds
				}
				if out, ok := q.condition(c); ok {
					p.last = &c
					return []Condition{out}, nil, at + 1
				}
			}
		}
		return nil, nil, from
	}
	next = p.unitAt(tokens, next, &q)
	if hasField {
		q.named(field)
	}
	next = p.suffix(tokens, next, &q, &c)
	if q.plus && c.op == "" {
		c.op = ">="
	}
	p.last = &c
	if out, ok := q.condition(c); ok {
		return []Condition{out}, nil, next
	}
	return nil, &Condition{Op: c.op, Number: q.value}, next
}

// named gives a quantity the field that was said before it.
func (q *quantity) named(field Field) {
	if _, metric := map[Field]bool{Views: true, Likes: true, Comments: true, Shares: true, Saves: true}[field]; metric && q.million {
		q.value, q.million = q.value*1e6, false
	}
	switch {
	case q.field == "" || q.percent:
		q.field = field
	case field == Age && q.field == Duration:
		q.field, q.unit, q.value = Age, "hours", q.value/3600
	}
	if q.field == Likes && q.percent {
		q.field = LikeRate
	}
}

// suffix reads "old", "ago", "or newer" and the like behind a quantity.
func (p *parser) suffix(tokens []token, at int, q *quantity, c *comparison) int {
	for at < len(tokens) {
		t := tokens[at]
		switch {
		case t.kind == word && (t.text == "old" || t.text == "ago" || t.text == "fresh"):
			c.age = true
		case t.kind == word && (t.text == "long" || t.text == "each" || t.text == "total" || t.text == "maximum" && c.op != "" || t.text == "minimum" && c.op != ""):
		case t.kind == mark && c.op == "" && (t.text == ">=post" || t.text == "<=post"):
			c.op = t.text[:2]
		case t.kind == mark && t.text == "older" && c.op == "":
			c.op, c.age = ">=", true
		case t.kind == mark && t.text == "newer" && c.op == "":
			c.op, c.age = "<=", true
		default:
			return at
		}
		at++
	}
	return at
}

// fieldAt reads the name of a field with numbers.
func (p *parser) fieldAt(tokens []token, at int) (Field, bool) {
	t := tokens[at]
	if t.kind != word {
		return "", false
	}
	if field, ok := p.metrics[t.text]; ok {
		return field, true
	}
	field, ok := p.fields[t.text]
	return field, ok
}

// namedAt reads "views over 10k", "duration: max 60s", "engagement rate above 5%".
func (p *parser) namedAt(tokens []token, at int) ([]Condition, int) {
	field, ok := p.fieldAt(tokens, at)
	if !ok {
		return nil, at
	}
	i := at + 1
	for i < len(tokens) && i < at+6 && p.filler(tokens[i]) && tokens[i].text != "a" {
		if _, _, compares := comparisonAt(tokens, i); compares {
			break
		}
		if tokens[i].text == "rate" || tokens[i].text == "ratio" {
			if field == Likes {
				field = LikeRate
			}
		}
		i++
	}
	c, after, ok := comparisonAt(tokens, i)
	if !ok {
		c, after = comparison{}, i
	}
	for after < len(tokens) && p.filler(tokens[after]) && tokens[after].text != "a" {
		after++
	}
	if cs, end := p.rangeAt(tokens, after, field); end > after {
		return cs, end
	}
	q, next, ok := p.amountAt(tokens, after)
	if !ok {
		return nil, at
	}
	next = p.unitAt(tokens, next, &q)
	q.named(field)
	next = p.suffix(tokens, next, &q, &c)
	if c.op == "" && q.plus {
		c.op = ">="
	}
	if c.op == "" {
		if _, metric := p.metrics[tokens[at].text]; !metric {
			return nil, at
		}
		c.op = ">="
	}
	if q.unit == "" && q.field == Age && !c.age {
		return nil, at
	}
	p.last = &c
	out, ok := q.condition(c)
	if !ok {
		return nil, at
	}
	return []Condition{out}, next
}

// rangeAt reads "15-45s", "between 10k and 50k views", "1 to 3 minutes". The field
// is what was said before it; empty without one.
func (p *parser) rangeAt(tokens []token, at int, field Field) ([]Condition, int) {
	i := at
	if i < len(tokens) && (tokens[i].text == "between" || tokens[i].text == "from") && tokens[i].kind == word {
		i++
	}
	low, next, ok := p.amountAt(tokens, i)
	if !ok {
		return nil, at
	}
	next = p.unitAt(tokens, next, &low)
	if next >= len(tokens) || tokens[next].kind != mark || tokens[next].text != "-" {
		return nil, at
	}
	high, next, ok := p.amountAt(tokens, next+1)
	if !ok {
		return nil, at
	}
	next = p.unitAt(tokens, next, &high)
	if field != "" {
		high.named(field)
	}
	if low.field == "" {
		if low.times == 0 && high.times > 0 && low.value < high.value/high.times { // "10-20k"
			low.value *= high.times
		}
		low.inherit(high)
	}
	c := comparison{}
	next = p.suffix(tokens, next, &high, &c)
	from, ok1 := low.condition(comparison{op: ">=", age: c.age})
	to, ok2 := high.condition(comparison{op: "<=", age: c.age})
	if !ok1 || !ok2 || from.Field != to.Field {
		return nil, at
	}
	return []Condition{from, to}, next
}

// inherit takes the unit of the other end of a range.
func (q *quantity) inherit(other quantity) {
	if other.field != Duration {
		q.named(other.field)
	}
	q.field, q.unit, q.percent = other.field, other.unit, other.percent
	if other.field == Duration && other.scale > 0 {
		q.value *= other.scale
	}
}

// postfixAt reads "10k+ views", "60 seconds or less", "10k views minimum", and a
// bare number under the comparison before it: "10k views and 500 likes".
func (p *parser) postfixAt(tokens []token, at int) (found []Condition, pending *Condition, next int) {
	q, next, ok := p.amountAt(tokens, at)
	if !ok || (tokens[at].kind == word && (tokens[at].text == "a" || tokens[at].text == "an")) {
		return nil, nil, at
	}
	c := comparison{}
	next = p.unitAt(tokens, p.suffix(tokens, next, &q, &c), &q)
	next = p.suffix(tokens, next, &q, &c)
	if after, end, ok := comparisonAt(tokens, next); ok && c.op == "" && !after.age && (end >= len(tokens) || !p.startsAmount(tokens, end)) && tokens[next].text != "within" {
		c.op, next = after.op, end
	}
	next = p.suffix(tokens, next, &q, &c)
	if q.plus && c.op == "" {
		c.op = ">="
	}
	if q.field == "" && p.last != nil && p.field != "" && next < len(tokens) && tokens[next].text == "on" {
		q.named(p.field) // "10k views on TikTok and 5k on YouTube"
	}
	if c.op == "" && q.field != "" && p.last != nil && (!p.last.age || q.field == Age) { // unlike "from the last 30 days with 10k views"
		age := c.age
		c = *p.last
		c.age = c.age && q.field == Age || age
	}
	if c.op == "" {
		switch q.field {
		case Views, Likes, Comments, Shares, Saves:
			if p.mode == never {
				return nil, nil, at
			}
			c.op = ">="
		default:
			return nil, nil, at
		}
	}
	out, ok := q.condition(c)
	if !ok {
		return nil, nil, at
	}
	return []Condition{out}, nil, next
}

func (p *parser) startsAmount(tokens []token, at int) bool {
	_, _, ok := p.amountAt(tokens, at)
	return ok
}
