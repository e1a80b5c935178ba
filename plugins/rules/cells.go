package rules

import (
	"slices"
	"strings"
)

// cell is a piece of a sentence: a word of the grammar by its letter, or what a condition
// can be made of. B is a bound, G one that a negation never reaches, P a platform, L a
// language, @ a creator, # a hashtag, I a kind, Z a sound, Q a question, H the name of a
// part, t a subject that is known, w other words, z words that name no subject.
type cell struct {
	class byte
	found []Condition
	part  Part
	// tokens are its words, content how many of them say something.
	tokens  []token
	content int
	// hard words are of no wish either: numbers and comparisons that are left over.
	hard bool
}

// text is what the cell searches for.
func (c cell) text() string { return strings.Join(wordsOf(c.tokens), " ") }

func wordsOf(tokens []token) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.text
	}
	return out
}

// textsOf are the words; empty for what is none.
func textsOf(tokens []token) []string {
	out := wordsOf(tokens)
	for i, t := range tokens {
		if t.kind != word && t.kind != mark {
			out[i] = ""
		}
	}
	return out
}

// celler makes the cells of the tokens of a rule.
type celler struct {
	*compiler
	tokens []token
	at     int
	cells  []cell
	// run are words that belong together, from begin to end among the tokens; held is what
	// is behind them and says nothing.
	run, held  []token
	heldCells  []cell
	begin, end int
	// skipped is the last token that said nothing.
	skipped int
}

// longestBound is the most pieces of a bound.
const longestBound = 40

// cellsOf are the cells of a rule.
func (c *compiler) cellsOf(tokens []token) []cell {
	s := &celler{compiler: c, tokens: tokens}
	pieces, classes := c.pieces(tokens)
	for of := 0; s.at < len(tokens); {
		for of < len(pieces) && pieces[of].next <= s.at {
			of++
		}
		if starts := of == 0 || pieces[of-1].next == s.at; starts && pieces[of].class != '.' {
			if found, n := c.bound(pieces[of:], classes[of:min(len(classes), of+longestBound)], c.now); n > 0 && !s.vague(found, pieces[of:of+n]) {
				s.emit(cell{class: boundClass(found), found: found}, pieces[of+n-1].next-s.at)
				continue
			}
		}
		s.step()
	}
	s.flush()
	return s.cells
}

// vague reports "nothing from last year", which may mean the calendar's.
func (s *celler) vague(found []Condition, pieces []piece) bool {
	return len(pieces) == 2 && pieces[0].class == 'c' && pieces[1].class == 'u' && slices.ContainsFunc(s.cells, func(c cell) bool { return c.class == 'N' || c.class == 'K' }) || len(found) == 0
}

// boundClass is G for bounds that are never negated: "no at least 500 views" is no English.
func boundClass(found []Condition) byte {
	if slices.ContainsFunc(found, func(c Condition) bool { return c.Field != Posted && (c.Op == ">=" || c.Op == "<=") }) {
		return 'G'
	}
	return 'B'
}

// emit puts a cell of some tokens behind the words before it.
func (s *celler) emit(c cell, tokens int) {
	s.flush()
	if c.tokens == nil {
		c.tokens = s.tokens[s.at : s.at+tokens]
	}
	s.cells = append(s.cells, c)
	s.at += tokens
}

func (s *celler) flush() {
	named := s.end == s.at && s.behind(0).kind == quoted && !slices.ContainsFunc(s.run, func(t token) bool { return !s.in("stop", t.text) })
	if len(s.run) > 0 && !named { // unlike "our brand "Lumo""
		s.cells = append(s.cells, s.worded(s.run))
	}
	s.cells = append(s.cells, s.heldCells...)
	s.run, s.held, s.heldCells = nil, nil, nil
}

func (s *celler) step() {
	t := s.tokens[s.at]
	if key, n := s.find("aside", s.tokens, s.at); n > 0 && key == "" && t.kind == word {
		s.at += n
		return
	}
	if s.name(t) {
		return
	}
	if class, n := s.phrase(); n > 0 {
		if one := (cell{class: class, tokens: s.tokens[s.at : s.at+n]}); class == 's' && len(s.run) > 0 {
			s.held, s.heldCells = append(s.held, t), append(s.heldCells, one)
			s.at += n
		} else {
			s.emit(one, n)
		}
		return
	}
	switch {
	case t.kind == mark:
		class := map[string]byte{".": '.', ";": '.', "!": '.', "?": '?', ",": ',', "/": ',', "&": '&', ":": ':', "-": '-', "=": '-', ">": '-', "->": '-', "→": '-', "(": '(', "[": '(', ")": ')', "]": ')'}[t.text]
		if class == 0 {
			s.at++
			return
		}
		s.emit(cell{class: class}, 1)
	case t.kind == word && !s.in("degree", t.text) && (!s.in("unbound", t.text) || s.key("cell", s.behind(1).text) == "o") && (s.in("noise", t.text) || s.in("idle", t.text) || s.in("place", t.text)):
		if len(s.run) > 0 {
			s.held = append(s.held, t)
		} else {
			s.skipped = s.at
		}
		s.at++
	case t.kind == quoted:
		s.emit(cell{class: 't', content: 1}, 1)
	default:
		if len(s.run) == 0 {
			s.begin = s.at
		}
		s.run = append(append(s.run, s.held...), t)
		s.held, s.heldCells = nil, nil
		s.at++
		s.end = s.at
	}
}

// phrase is the letter of the longest phrase of the grammar here.
func (s *celler) phrase() (class byte, n int) {
	t := s.tokens[s.at]
	if t.kind != word {
		return 0, 0
	}
	if key, n := s.find("cell", s.tokens, s.at+1); n > 0 && key == "T" && (t.text == "is" || t.text == "are") {
		return 'i', 1 // "are not allowed" is no "are not"
	}
	key, n := s.find("cell", s.tokens, s.at)
	for n > 0 && (key == "" || s.cuts(n)) {
		key, n = s.find("cell", s.tokens[:s.at+n-1], s.at)
	}
	if n == 0 {
		return 0, 0
	}
	return key[0], n
}

// cuts reports a phrase that ends within a comparison: "no more than".
func (s *celler) cuts(n int) bool {
	for i := s.at + 1; i < s.at+n; i++ {
		if key, m := s.find("piece", s.tokens, i); strings.HasPrefix(key, "c ") && i+m > s.at+n {
			return true
		}
	}
	return false
}

// before and behind are the words beside the next n tokens; empty for what is no word.
func (s *celler) before() string {
	if s.at == 0 || s.tokens[s.at-1].kind != word {
		return ""
	}
	return s.tokens[s.at-1].text
}

func (s *celler) behind(n int) token {
	if s.at+n >= len(s.tokens) {
		return token{kind: mark}
	}
	return s.tokens[s.at+n]
}

// says reports a word that may be what a video is about.
func (s *celler) says(t token) bool {
	if t.kind != word {
		return false
	}
	_, first := s.find("cell", []token{t}, 0)
	_, compares := s.find("piece", []token{t}, 0)
	return first+compares == 0 && !s.in("noise", t.text) && !s.in("idle", t.text) && !s.in("aside", t.text) && !s.in("platform", t.text) && !s.in("language", t.text) && !s.in("format", t.text) && !s.in("part", t.text)
}

// name reads handles, hashtags, platforms, languages, kinds, sounds and parts.
func (s *celler) name(t token) bool {
	not := s.before() == "non"
	one := func(class byte, field Field, value string, n int) bool {
		s.emit(cell{class: class, found: []Condition{{Field: field, Values: []string{value}, Not: not}}}, n)
		return true
	}
	adjacent := len(s.run) > 0 && len(s.held) == 0
	switch {
	case t.kind == handle && s.in("tags", s.before()):
		return one('@', Text, "@"+t.text, 1)
	case t.kind == handle:
		return one('@', Creator, t.text, 1)
	case t.kind == hashtag:
		return one('#', Hashtag, t.text, 1)
	case t.kind != word:
		return false
	case s.before() == "hashtag" && s.says(t):
		return one('#', Hashtag, t.text, 1)
	case s.key("platform", t.text) != "":
		n := 1
		for s.in("format", s.behind(n).text) {
			n++
		}
		return one('P', Platform, s.key("platform", t.text), n)
	case t.text == "tik" && strings.HasPrefix(s.behind(1).text, "tok"):
		return one('P', Platform, "tiktok", 2)
	case s.in("format", t.text) && !adjacent: // unlike "cargo shorts"
		return one('P', Platform, s.key("format", t.text), 1)
	case s.in("language", t.text) && (not || s.in("language-before", s.before()) || s.in("language-after", s.behind(1).text) || !adjacent && !s.says(s.behind(1))):
		return one('L', Language, s.key("language", t.text), 1)
	case t.text == "non" && (s.in("language", s.behind(1).text) || s.in("platform", s.behind(1).text)):
		s.at++
		return true
	case s.in("rival", t.text) && s.behind(1).kind == quoted: // "our competitor "Acme""
		s.at++
		return true
	case s.in("rival", t.text) && s.spoken(), s.in("rival", t.text) && s.in("owner", s.before()) && s.says(s.behind(1)) && !s.topical([]token{s.behind(1)}):
		return one('z', Text, t.text, 1) // a competitor is mentioned: which?
	case s.in("rival", t.text):
		return one('I', Kind, "competitor", 1)
	case t.text == "own" && s.in("owner", s.before()), t.text == "ours", t.text == "own" && !adjacent && (s.behind(1).kind == mark || s.key("cell", s.behind(1).text) == "o"):
		return one('I', Kind, "own", 1)
	case t.text == "niche" && !adjacent && !s.says(s.behind(1)):
		return one('I', Kind, "niche", 1)
	case (t.text == "question" || t.text == "questions") && s.asks():
		s.run, s.held, s.heldCells = nil, nil, nil
		s.emit(cell{class: 'Q', found: []Condition{{Field: Question}}}, 1)
		return true
	}
	for n := 1; s.in("sound", t.text) && n < 4; n++ {
		if s.behind(n).kind == quoted {
			return one('Z', Sound, s.behind(n).text, n+1)
		}
		if !s.in("named", s.behind(n).text) {
			break
		}
	}
	if of, n := s.find("part", s.tokens, s.at); n > 0 {
		s.emit(cell{class: 'H', part: Part(strings.ReplaceAll(of, "_", " "))}, n)
		return true
	}
	return false
}

// spoken reports that what follows is what a video says.
func (s *celler) spoken() bool {
	for _, c := range slices.Backward(s.cells) {
		if strings.IndexByte("aH", c.class) >= 0 {
			return true
		}
		if strings.IndexByte(".cNKAMWSEUF", c.class) >= 0 {
			return false
		}
	}
	return false
}

// asks reports that a question here is that of a hook.
func (s *celler) asks() bool {
	if of, _ := s.find("part", s.tokens, s.at+1); of == "hook" {
		return true
	}
	if len(s.run) > 0 {
		return !slices.ContainsFunc(s.run, func(t token) bool { return !s.in("ask", t.text) && !s.in("noise", t.text) && !s.in("place", t.text) })
	}
	return slices.ContainsFunc(s.cells, func(c cell) bool { return c.class == 'H' && c.part == Hook })
}

// topical reports words that are known to name what videos are about: quoted ones, those
// of the lexicon and those of the brief.
func (c *compiler) topical(tokens []token) bool {
	if c.meanings[stems(strings.Join(textsOf(tokens), " "))] != nil {
		return true
	}
	return !slices.ContainsFunc(tokens, func(t token) bool {
		known := t.kind == word && (c.in("noise", t.text) || c.in("stop", t.text) || c.in("topic", t.text) || c.in("topic", strings.TrimSuffix(t.text, "s")) ||
			c.adverts[stems(t.text)] || c.known(stem(t.text)) || c.meanings[stems(t.text)] != nil)
		return !known && t.kind != quoted
	})
}

// worded is the cell of words that are left over. With any that names no subject it is z.
func (s *celler) worded(run []token) cell {
	c := cell{class: 'w', tokens: run}
	odd, known := false, s.topical(run)
	for i, t := range run {
		if !s.in("noise", t.text) && !s.in("stop", t.text) {
			c.content++
		}
		odd = odd || t.kind == word && (s.in("clausal", t.text) || s.in("counted", t.text) || s.in("vague", t.text) || len(t.text) == 1 || s.in("place", t.text) || strings.HasSuffix(t.text, "ly") && !s.in("lynoun", t.text) || s.nearly(t.text))
		key, _ := s.find("piece", run, i)
		compares := strings.HasPrefix(key, "c ") && (i == 0 && (key == "c >" || key == "c <") || i+1 < len(run) && run[i+1].kind == number)
		c.hard = c.hard || compares || s.misspelt[t.text] != "" || s.in("unbound", t.text) || t.text == "than" || factor(s.key("number", t.text)) > 2 || t.kind == number && len(run) == 1 || t.kind == length
		other := s.key("common", t.text) // of another language
		if s.in("judgement", t.text) || s.in("degree", t.text) || s.in("stop", t.text) && s.in("vague", t.text) || other != "" && !strings.Contains(other, "en") && !s.knows(t.text) {
			c.class = 'z'
		}
	}
	if s.begin > 0 && s.tokens[s.begin-1].kind == word {
		before := s.tokens[s.begin-1].text
		odd = odd || s.skipped == s.begin-1 && (s.in("place", before) || s.in("owner", before))
		c.hard = c.hard || strings.HasPrefix(s.key("cell", before), "p")
	}
	people := s.end < len(s.tokens) && s.tokens[s.end].kind == word && s.key("cell", s.tokens[s.end].text) == "p"
	if people || c.content == 0 || len(run) == 1 && s.in("unit", run[0].text) || odd && !known || c.hard {
		c.class = 'z'
	}
	if c.class == 'w' && known {
		c.class = 't'
	}
	return c
}
