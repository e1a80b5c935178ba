package rules

import "slices"

// reach decides, behind a conjunction, how far a negation goes. It goes on to further
// things of the same kind: "no giveaways and unboxings". A bound of its own behind
// nouns is another rule: "no giveaways, at least 500 views". What may mean either is lost.
func (s *splitter) reach() {
	c := s.current
	if c.inUnless { // "no giveaways except from @foo, at least 500 views": another exception, or a rule
		b, _ := s.bound(plain)
		c.lost = c.lost || b.strict && s.joined(",") && !s.joined("or", "nor")
		return
	}
	if !s.afterConjunction() || c.lost || c.flip >= 0 || c.filled == 0 {
		return
	}
	switch {
	case c.own:
		if _, ok := s.bound(plain); ok || amount(s.tokens[s.at]) || !s.content(s.part()) {
			return
		}
		found, several := s.demanded()
		s.close(plain)
		s.current.lost = !found || several // whether it is refused or required, nothing says
	case c.mode == never:
		s.refused()
	}
}

// refused looks at the next part of a negated clause.
func (s *splitter) refused() {
	if found, several := s.demanded(); found {
		s.close(plain)
		s.current.lost = several // "no giveaways, politics and English only"
		return
	}
	c := s.current
	if c.bounded = c.bounded || s.numbers(c.body[c.looked:]); c.looked < len(c.body) {
		c.looked = len(c.body)
	}
	b, ok := s.bound(never)
	if !ok || c.bounded && !b.strict {
		return // a noun, or a bound behind bounds: "no videos under 15 or over 60 seconds"
	}
	or, and := s.joined("or", "nor"), s.joined("and")
	relative := slices.ContainsFunc(c.body, func(t token) bool { return t.kind == word && s.in("relative", t.text) })
	object := c.object || b.named || relative || slices.ContainsFunc(c.body, func(t token) bool { return t.kind == word && s.in("object", t.text) })
	switch {
	case !b.strict && or && object: // "skip videos about crypto or over 3 minutes"
	case relative && and: // "skip videos that mention crypto and have at least 500 views": both, or each
		c.lost = true
	default:
		unclear := or || !b.strict && (object || s.list())
		s.close(plain)
		s.current.own, s.current.lost = !unclear, unclear
	}
}

// limit is a bound at the start of a part.
type limit struct {
	// strict bounds are never negated: "no at least 500 views" is no English.
	strict bool
	// named bounds start with the name of their field: "views under 500".
	named bool
}

// bound reads the bound that starts at s.at, behind words that say nothing.
func (s *splitter) bound(m mode) (b limit, ok bool) {
	p := &parser{lexicon: s.lexicon, mode: m}
	for i := s.at; i < len(s.tokens) && i < s.at+5 && !conjunction(s.tokens[i]); i++ {
		found, pending, next := p.numericAt(s.tokens, i)
		if pending != nil {
			found = append(found, *pending)
		}
		t := s.tokens[i]
		if next > i && len(found) > 0 {
			b.strict = slices.ContainsFunc(found, func(c Condition) bool { return c.Field != Posted && (c.Op == ">=" || c.Op == "<=") })
			_, b.named = p.fieldAt(s.tokens, i)
			return b, true
		}
		if t.kind != word || s.in("object", t.text) || !s.noise[t.text] && !s.place[t.text] {
			break
		}
	}
	return b, false
}

// numbers reports whether there is a bound among the tokens.
func (s *splitter) numbers(tokens []token) bool {
	p := &parser{lexicon: s.lexicon, mode: never}
	for i := range tokens {
		if found, pending, _ := p.numericAt(tokens, i); len(found) > 0 || pending != nil {
			return true
		}
	}
	return false
}

// part are the tokens up to the next conjunction.
func (s *splitter) part() []token {
	rest := s.tokens[s.at:]
	if end := slices.IndexFunc(rest, conjunction); end >= 0 {
		return rest[:end]
	}
	return rest
}

// joined reports whether one of the words is among the conjunctions before s.at. A
// comma before "and" separates: it joins nothing.
func (s *splitter) joined(words ...string) bool {
	found := false
	for i := s.at - 1; i >= 0 && conjunction(s.tokens[i]); i-- {
		if s.tokens[i].text == "," && words[0] == "and" {
			return false
		}
		found = found || slices.Contains(words, s.tokens[i].text)
	}
	return found
}

// list reports whether an "or" between things follows: "over 3 minutes or in French".
func (s *splitter) list() bool {
	for i := s.at; i+1 < len(s.tokens); i++ {
		if t := s.tokens[i]; t.kind == word && (t.text == "or" || t.text == "nor") && !amount(s.tokens[i+1]) {
			return true
		}
	}
	return false
}

// demanded reports whether the next part is required by words of its own: "English
// only", "videos must be short". several says that what is required may be more parts.
func (s *splitter) demanded() (found, several bool) {
	comma := s.tokens[s.at-1].text == ","
	for i := s.at; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case conjunction(t):
			if !comma || t.text == "," {
				return false, false
			}
			several = true
			continue
		case t.kind != word:
			continue
		case s.in("relative", t.text) || s.in("contrast", t.text):
			return false, false
		}
		for _, l := range s.leads[t.text] {
			switch {
			case l.start || !matches(s.tokens, i, l.words):
			case l.mode != must:
				return false, false
			case i > s.at && (s.ends(i+len(l.words)) || s.in("demand", l.words[0])):
				return true, several
			}
		}
	}
	return false, false
}
