package rules

import (
	"slices"
	"strings"
)

// clause is a part of a sentence that is meant in one way.
type clause struct {
	mode mode
	// subject is what is before a `must`: "YouTube videos must …".
	subject []token
	body    []token
	// flip is where a negation within a `never` clause starts; -1 without one.
	flip   int
	unless []token
	// lost marks a clause that is meant in a way that no check can follow.
	lost bool
	all  bool
	// filled is how far the body goes up to its last word of content.
	filled int
	// inUnless says that tokens go to unless.
	inUnless bool
	// own marks a clause of bounds behind a negation that does not reach them.
	own bool
	// object marks a negation that takes any description of a video: "skip …", unlike "no …".
	object bool
	// bounded says that the first looked tokens of the body have a bound.
	bounded bool
	looked  int
}

func (c *clause) add(t token, content bool) {
	if c.inUnless {
		c.unless = append(c.unless, t)
		return
	}
	c.body = append(c.body, t)
	if content {
		c.filled = len(c.body)
	}
}

func (l *lexicon) content(tokens []token) bool {
	return slices.ContainsFunc(tokens, l.meaningful)
}

// meaningful is false for words that say nothing of what a video must be.
func (l *lexicon) meaningful(t token) bool {
	return t.kind != mark && (t.kind != word || !l.noise[t.text] && !conjunction(t))
}

func conjunction(t token) bool {
	switch t.text {
	case ",", "&", "/":
		return t.kind == mark
	}
	return t.kind == word && english().in("conjunction", t.text)
}

// sentences splits at ends of sentences and lines.
func sentences(tokens []token, text string) [][]token {
	var all [][]token
	from := 0
	for i, t := range tokens {
		end := t.kind == mark && strings.Contains(".!?;", t.text)
		newLine := i > 0 && strings.Contains(text[tokens[i-1].to:t.from], "\n")
		if newLine && i > from {
			all = append(all, tokens[from:i])
			from = i
		}
		if end {
			if i > from {
				all = append(all, tokens[from:i])
			}
			from = i + 1
		}
	}
	if from < len(tokens) {
		all = append(all, tokens[from:])
	}
	return all
}

// clauses splits a sentence where it changes what it means.
func (l *lexicon) clauses(tokens []token) []*clause {
	s := &splitter{lexicon: l, tokens: l.join(tokens), current: &clause{flip: -1}}
	for s.at < len(s.tokens) {
		s.step()
	}
	if c := s.current; c.mode == never && len(c.body)+len(c.unless) == 0 && len(s.done) > 0 {
		s.done[len(s.done)-1].lost = true // "… are not": what is not?
	}
	s.close(plain)
	return s.done
}

type splitter struct {
	*lexicon
	tokens  []token
	at      int
	current *clause
	done    []*clause
	// since is where the content after the last conjunction starts.
	since int
}

func (s *splitter) close(next mode) {
	c := s.current
	if c.filled == 0 && (c.mode == never || c.mode == must) && slices.ContainsFunc(c.body, func(t token) bool { return t.kind == word && !conjunction(t) }) {
		c.lost = true // "English or without speech"
	}
	if c.filled > 0 || s.content(c.unless) || s.content(c.subject) || c.lost {
		s.done = append(s.done, c)
	}
	s.current = &clause{mode: next, flip: -1}
	s.since = 0
}

func (s *splitter) step() {
	t := s.tokens[s.at]
	if n := s.tail(s.tails, plain); n > 0 {
		s.current.mode = never
		body := s.current.body
		s.current.lost = slices.ContainsFunc(body[max(0, len(body)-2):], func(t token) bool { return t.text == "or" }) // "English or it's out"
		s.at += n
		s.close(plain)
		return
	}
	if n := s.tail(s.welcomes, plain, never); n > 0 {
		s.current.lost = true
		s.at += n
		s.close(plain)
		return
	}
	if found, n := s.lead(); n > 0 {
		s.at += n
		s.enter(found, n)
		if c := s.current; c.mode == never && len(c.body) == 0 {
			c.object = !s.in("refusal", found.words[0])
		}
		return
	}
	if _, _, compares := comparisonAt(s.tokens, s.at+1); t.text == "but" && compares && s.current.mode != never {
		t = token{kind: mark, text: ",", from: t.from, to: t.to} // "more than 30k but fewer than 3M views"
	}
	if t.kind == word && s.in("contrast", t.text) {
		s.close(plain)
		s.at++
		return
	}
	s.reach()
	if t.kind == word && (t.text == "both" || t.text == "all" && s.next("of")) {
		s.current.all = true
	}
	s.current.add(t, s.meaningful(t))
	if conjunction(t) {
		s.since = len(s.current.body)
	}
	s.at++
}

func (s *splitter) next(text string) bool {
	return s.at+1 < len(s.tokens) && s.tokens[s.at+1].text == text
}

// matches reports whether the words are at a place.
func matches(tokens []token, at int, words []string) bool {
	if at+len(words) > len(tokens) {
		return false
	}
	for i, w := range words {
		if tokens[at+i].kind != word || tokens[at+i].text != w {
			return false
		}
	}
	return true
}

// ends reports whether a clause may end before the token.
func (s *splitter) ends(at int) bool {
	if at >= len(s.tokens) {
		return true
	}
	t := s.tokens[at]
	return conjunction(t) || t.kind == mark || t.text == "but" || t.text == "please" || t.text == "unless" || t.text == "except"
}

// tail is how many tokens a phrase takes that ends a clause without a verb.
func (s *splitter) tail(phrases map[string][][]string, in ...mode) int {
	if !slices.Contains(in, s.current.mode) || s.current.filled == 0 {
		return 0
	}
	skip := 0
	if t := s.tokens[s.at]; t.kind == word && (t.text == "is" || t.text == "are") {
		skip = 1
	}
	if s.at+skip >= len(s.tokens) {
		return 0
	}
	for _, words := range phrases[s.tokens[s.at+skip].text] {
		if matches(s.tokens, s.at+skip, words) && s.ends(s.at+skip+len(words)) {
			return skip + len(words)
		}
	}
	return 0
}

func (s *splitter) lead() (lead, int) {
	start := s.current.filled <= s.since && !s.current.inUnless
	listed := s.current.filled > 0
	for _, candidate := range s.leads[s.tokens[s.at].text] {
		if !matches(s.tokens, s.at, candidate.words) {
			continue
		}
		n := len(candidate.words)
		last := candidate.words[n-1]
		if s.at+n < len(s.tokens) && s.tokens[s.at+n].text == "than" && (last == "more" || last == "other") {
			continue
		}
		if candidate.start && (!start || (listed && (!s.in("strong", candidate.words[0]) || s.after("or")))) {
			continue
		}
		if candidate.mode == soft && last == "more" && s.at+n < len(s.tokens) && s.tokens[s.at+n].kind == number {
			continue
		}
		return candidate, n
	}
	return lead{}, 0
}

func (s *splitter) after(text string) bool {
	return len(s.current.body) > 0 && s.current.body[len(s.current.body)-1].text == text
}

func (s *splitter) afterConjunction() bool {
	return len(s.current.body) > 0 && conjunction(s.current.body[len(s.current.body)-1])
}

// enter takes a lead that ends before s.at.
func (s *splitter) enter(found lead, n int) {
	c := s.current
	have := c.filled > 0
	switch found.mode {
	case must:
		if n == 1 && (found.words[0] == "limit" || found.words[0] == "restrict") && !s.numbers(s.tokens[s.at:]) {
			c.lost = true // "limit giveaways": to what?
		}
		keep := found.words[0] == "keep" && c.mode != must && !slices.Contains(found.words, "only")
		if conditional(c.body) && (keep || !have) || keep && conditional(s.tokens[s.at:]) {
			c.lost = true // "keep it if it has 10k views": and the others?
		}
		if c.mode != never || have || !s.in("demand", found.words[0]) { // "no video should be …"
			s.must(have)
		}
	case never:
		verb := found.start || strings.HasSuffix(found.words[0], "ing") || found.words[0] == "exclude" || found.words[0] == "avoid"
		switch {
		case c.mode == never && !have && n > 1 && s.in("except", found.words[n-1]):
			c.mode = must // "skip everything but tutorials"
		case c.mode == never && !have && !c.lost && c.flip < 0 && verb && len(c.body) == 0:
			c.lost = true // "don't skip …": allows, which no check can do
		case c.mode == never && !s.afterConjunction() && (have || len(c.body) > 0) && !verb && c.flip < 0:
			c.flip = len(c.body)
		case c.mode == plain && have && conditional(c.body) && !s.content(s.tokens[s.at:]):
			c.mode = never // "if it is older than 2 years, skip it"
			s.at = len(s.tokens)
		case have:
			s.close(never)
		default:
			c.mode = never
		}
	case want, soft:
		switch {
		case have:
			s.close(found.mode)
		case c.mode == plain || (c.mode == want && found.mode == soft):
			c.mode = found.mode
		case c.mode == never && len(c.body) > 0 && s.in("contain", found.words[0]):
			c.add(s.tokens[s.at-1], false) // "should not include"
		case c.mode == never && len(c.body) > 0:
			c.lost = true // "creators who follow more than 1000 people"
		case c.mode == must && s.in("contain", found.words[0]):
			c.add(s.tokens[s.at-1], false) // "must include"
		}
	case except:
		switch {
		case c.mode == plain && !have && len(s.done) == 0 && s.ahead():
		case c.mode == never && !have && len(c.body) > 0:
			c.mode = must // "skip everything except tutorials"
		case c.mode == never && have, (c.mode == plain || c.mode == must) && have && s.numbers(c.body) && s.names(handle):
			c.inUnless = true
		case (c.mode == plain || c.mode == must) && have && (s.numbers(c.body) || s.names(handle)):
			c.lost = true // "at least 500 views, except giveaways": which of the two go?
		default:
			s.flipped(have)
		}
	case unless:
		c.inUnless = true
	case flip:
		switch {
		case c.inUnless:
			c.lost = true
		case c.mode == never && !s.afterConjunction() && found.words[0] != "nor":
			if c.flip >= 0 {
				c.lost = true
			}
			if !have && len(c.body) == 0 {
				c.lost = c.lost || found.words[0] == "don't" || found.words[0] == "do"
			}
			c.flip = len(c.body)
		case found.words[0] == "non":
			c.add(token{kind: mark, text: "non"}, false)
		default:
			s.flipped(have)
		}
	case stray:
		if have {
			s.close(plain)
		}
		s.current.lost = true
	}
}

// names reports whether what follows is of a kind.
func (s *splitter) names(kind tokenKind) bool {
	for _, t := range s.tokens[s.at:] {
		if s.meaningful(t) && !s.place[t.text] {
			return t.kind == kind
		}
	}
	return false
}

func conditional(body []token) bool {
	return len(body) > 0 && body[0].kind == word && english().in("condition", body[0].text)
}

// ahead takes an exception that comes first: "except for @foo, skip YouTube".
func (s *splitter) ahead() bool {
	for i := s.at; i < len(s.tokens); i++ {
		if s.tokens[i].kind == mark && s.tokens[i].text == "," && s.content(s.tokens[s.at:i]) && s.content(s.tokens[i:]) {
			s.current.unless = s.tokens[s.at:i:i]
			s.at = i + 1
			return true
		}
	}
	return false
}

func (s *splitter) flipped(have bool) {
	if have {
		s.close(never)
		return
	}
	s.current.mode = never
}

func (s *splitter) must(have bool) {
	c := s.current
	switch {
	case c.mode == never && !have:
		c.lost = true // "not only …"
	case c.mode == never:
		s.close(must)
	case have && s.ends(s.at) && !c.inUnless:
		c.mode = must // "English only"
	case have && c.mode == plain && !s.afterConjunction():
		c.subject, c.body, c.filled = c.body, nil, 0
		c.mode = must
		s.since = 0
	case have:
		s.close(must)
	default:
		c.mode = must
	}
}
