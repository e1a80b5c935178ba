package rules

import "time"

// dateAt reads "this year", "since March 2026", "before 2025-06-01", "in 2026".
func (p *parser) dateAt(tokens []token, at int) ([]Condition, int) {
	t := tokens[at]
	if t.kind != word {
		if start, _, next, ok := p.periodAt(tokens, at); ok && next < len(tokens) && tokens[next].kind == mark {
			switch tokens[next].text {
			case "newer":
				return []Condition{posted(">=", start)}, next + 1
			case "older":
				return []Condition{posted("<", start)}, next + 1
			}
		}
		return nil, at
	}
	switch t.text {
	case "this", "today":
		unit := at
		if t.text == "this" {
			unit = min(at+1, len(tokens)-1)
		}
		if start, ok := startOf(tokens[unit].text, p.now); ok {
			return []Condition{posted(">=", start)}, unit + 1
		}
	case "between":
		return p.spanAt(tokens, at+1, at)
	case "since", "after", "before", "until", "in", "from", "during", "till", "older", "newer", "earlier", "later", "as":
		i := at + 1
		for i < len(tokens) && (tokens[i].text == "than" || tokens[i].text == "of" || tokens[i].text == "the" || tokens[i].text == "start") {
			i++
		}
		start, end, next, ok := p.periodAt(tokens, i)
		if !ok {
			return nil, at
		}
		if cs, end := p.spanAt(tokens, i, at); end > at {
			return cs, end
		}
		if next < len(tokens) && (tokens[next].text == "onwards" || tokens[next].text == "onward" || tokens[next].text == "on") {
			return []Condition{posted(">=", start)}, next + 1
		}
		switch t.text {
		case "since", "as":
			return []Condition{posted(">=", start)}, next
		case "after", "newer", "later":
			return []Condition{posted(">=", end)}, next
		case "before", "older", "earlier":
			return []Condition{posted("<", start)}, next
		case "until", "till":
			return []Condition{posted("<", end)}, next
		}
		if next < len(tokens) && tokens[next].kind == mark && tokens[next].text == "newer" {
			return []Condition{posted(">=", start)}, next + 1
		}
		return []Condition{posted(">=", start), posted("<", end)}, next
	}
	return nil, at
}

// dated takes out the comma of "October 1, 2026", which would divide the clause.
func (l *lexicon) dated(tokens []token) (out []token) {
	for i, t := range tokens {
		if isMark(t, ",") && i > 1 && i+1 < len(tokens) && tokens[i-1].kind == number && l.months[tokens[i-2].text] > 0 {
			if isYear(tokens[i+1]) {
				continue
			}
		}
		out = append(out, t)
	}
	return out
}

// spanAt reads "March to June 2026"; back where it is none.
func (p *parser) spanAt(tokens []token, at, back int) ([]Condition, int) {
	start, _, next, ok := p.periodAt(tokens, at)
	if !ok || next >= len(tokens) || tokens[next].kind != mark || tokens[next].text != "-" {
		return nil, back
	}
	_, end, next, ok := p.periodAt(tokens, next+1)
	if !ok {
		return nil, back
	}
	for start.After(end) {
		start = start.AddDate(-1, 0, 0)
	}
	return []Condition{posted(">=", start), posted("<", end)}, next
}

func posted(op string, at time.Time) Condition {
	return Condition{Field: Posted, Op: op, At: at}
}

// periodAt reads a day, a month with or without a year, or a year.
func (p *parser) periodAt(tokens []token, at int) (start, end time.Time, next int, ok bool) {
	if at >= len(tokens) {
		return
	}
	t := tokens[at]
	switch t.kind {
	case date:
		return t.at, t.at.AddDate(0, 0, 1), at + 1, true
	case number:
		if isYear(t) {
			start = time.Date(int(t.value), 1, 1, 0, 0, 0, 0, time.UTC)
			return start, start.AddDate(1, 0, 0), at + 1, true
		}
		return p.dayAt(tokens, at)
	case word:
		month, known := p.months[t.text]
		if !known {
			return
		}
		year, day, next := p.now.Year(), 0, at+1
		if next < len(tokens) && tokens[next].kind == number && tokens[next].value >= 1 && tokens[next].value <= 31 && len(tokens[next].text) <= 2 {
			day = int(tokens[next].value)
			if next++; next < len(tokens) && (tokens[next].text == "," || ordinal(tokens[next].text)) {
				next++
			}
		}
		said := false
		if next < len(tokens) {
			if said = isYear(tokens[next]); said {
				year = int(tokens[next].value)
				next++
			}
		}
		if !said && time.Month(month) > p.now.Month() {
			year-- // the last one
		}
		start = time.Date(year, time.Month(month), max(1, day), 0, 0, 0, 0, time.UTC)
		if day > 0 {
			return start, start.AddDate(0, 0, 1), next, true
		}
		return start, start.AddDate(0, 1, 0), next, true
	}
	return
}

// dayAt reads "1 June 2026" and "1st of June".
func (p *parser) dayAt(tokens []token, at int) (start, end time.Time, next int, ok bool) {
	day := tokens[at].value
	if day < 1 || day > 31 || len(tokens[at].text) > 2 || tokens[at].plus {
		return
	}
	next = at + 1
	for next < len(tokens) && (ordinal(tokens[next].text) || tokens[next].text == "of") {
		next++
	}
	if next >= len(tokens) || tokens[next].kind != word || p.months[tokens[next].text] == 0 {
		return
	}
	start, _, next, ok = p.periodAt(tokens, next)
	start = start.AddDate(0, 0, int(day)-1)
	return start, start.AddDate(0, 0, 1), next, ok
}

func ordinal(s string) bool { return s == "st" || s == "nd" || s == "rd" || s == "th" }

func isYear(t token) bool {
	return t.kind == number && len(t.text) == 4 && t.value >= 2000 && t.value <= 2100 && !t.plus
}

// startOf is when the year, month, week or day of now began; not ok for another unit.
func startOf(unit string, now time.Time) (start time.Time, ok bool) {
	year, month, day := now.Date()
	switch unit {
	case "year":
		month, day = 1, 1
	case "month":
		day = 1
	case "week":
		day -= (int(now.Weekday()) + 6) % 7 // Monday
	case "today":
	default:
		return start, false
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), true
}
