package rules

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/language"
	"github.com/scrollery/scrollery/plugins/internal/words"
)

// cell is a piece of a sentence: a word of the grammar by its letter, or what a condition
// can be made of. B is a bound, G one that a negation never reaches, P a platform, L a
// language, @ a creator, # a hashtag, I a kind, Z a sound, Q a question, H the name of a
// part, t a subject that is known, w other words, z words that name no subject.
type cell struct {
	class byte
	found []Condition
	part  facts.Part
	// tokens are its words, content how many of them say something.
	tokens  []token
	content int
	// hard words are of no wish either: numbers and comparisons that are left over.
	hard bool
}

// text is what the cell searches for.
func (c cell) text() string { return strings.Join(wordsOf(c.tokens), " ") }

func wordsOf(tokens []token) []string { return mapped(tokens, func(t token) string { return t.text }) }

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
	if one, n := s.name(t); n > 0 {
		s.emit(one, n)
		return
	}
	if s.compounds(t) {
		s.begin, s.run = s.at, []token{t}
		s.at++
		s.end = s.at
		return
	}
	if class, n := s.phrase(); class == 's' && len(s.run) > 0 {
		s.held, s.heldCells = append(s.held, t), append(s.heldCells, cell{class: class, tokens: s.tokens[s.at : s.at+n]})
		s.at += n
		return
	} else if n > 0 {
		s.emit(cell{class: class}, n)
		return
	}
	switch {
	case t.kind == mark:
		s.at++ // one that means nothing
	case t.kind == word && !(len(s.run) > 0 && len(s.held) == 0 && s.in("tailing", t.text)) && !s.in("degree", t.text) && !(s.in("size", t.text) && s.sized()) && (!s.in("unbound", t.text) || s.key("cell", s.behind(1).text) == "o") && (s.in("noise", t.text) || s.in("idle", t.text) || s.in("place", t.text)):
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

// sized reports a size that no bound tells: "no long TikToks", "hooks should be short".
func (s *celler) sized() bool {
	last := len(s.cells) - 1
	judged := s.before() == "be" || last >= 0 && len(s.run) == 0 && strings.IndexByte("iMX", s.cells[last].class) >= 0
	return judged && s.behind(1).kind == mark || s.behind(1).kind == word && !slices.ContainsFunc(s.tokens, func(t token) bool { return s.measure(t.text) })
}

// phrase is the letter of the longest phrase of the grammar here.
func (s *celler) phrase() (class byte, n int) {
	key, n := s.find("cell", s.tokens, s.at)
	if tail, _ := s.find("cell", s.tokens, s.at+1); (tail == "T" && s.behind(1).text == "not" || tail == "z") && key == "F" {
		return 'i', 1 // "are not allowed" is no "are not", but "isn't banned" is
	}
	if n == 0 {
		return 0, 0
	}
	return key[0], n
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
	return t.kind == word && !s.in("cell", t.text) && !s.in("piece", t.text) && !s.in("noise", t.text) && !s.in("idle", t.text) && !s.in("aside", t.text) && !s.in("name", t.text)
}

// name reads handles, hashtags, sounds and names of the lexicon: the cell, and its tokens.
func (s *celler) name(t token) (cell, int) {
	not := t.text == "non"
	one := func(class byte, field Field, value string, n int) (cell, int) {
		return cell{class: class, found: []Condition{{Field: field, Values: []string{value}, Not: not}}}, n
	}
	for n := 1; s.in("sound", t.text) && n < 4; n++ {
		if s.behind(n).kind == quoted {
			return one('Z', Sound, s.behind(n).text, n+1)
		}
		if !s.in("named", s.behind(n).text) {
			break
		}
	}
	switch {
	case t.kind == handle && s.in("tags", s.before()):
		return one('@', Text, "@"+t.text, 1)
	case t.kind == handle:
		return one('@', Creator, t.text, 1)
	case t.kind == hashtag, s.before() == "hashtag" && s.says(t) && !s.in("compound", t.text) && !strings.HasSuffix(t.text, "ing"):
		return one('#', Hashtag, t.text, 1)
	}
	key, n := s.find("name", s.tokens, s.at)
	if not {
		if key, n = s.find("name", s.tokens, s.at+1); n > 0 {
			n++
		}
	}
	class, value, _ := strings.Cut(key, " ")
	_, verb := s.find("cell", s.tokens, s.at+n) // "not in French can be removed"
	adjective := len(s.run) > 0 && len(s.held) == 0 || verb == 0 && s.says(s.behind(n)) && !s.in("format", t.text)
	switch {
	case n == 0 || t.kind != word || strings.IndexByte("PL", class[0]) >= 0 && s.told():
		return cell{}, 0
	case class == "H":
		return cell{class: 'H', part: facts.Part(strings.ReplaceAll(value, "_", " "))}, n
	case class == "Q":
		return cell{class: 'Q', found: []Condition{{Field: Question}}}, n
	case class == "P" && !s.in("format", t.text) && !strings.HasSuffix(t.text, "s") && len(s.run) > 0 && len(s.held) == 0 && s.says(s.run[len(s.run)-1]) && !s.in("size", s.run[len(s.run)-1].text): // "robots reading Reddit"
		return cell{class: 'z'}, n
	case class == "P" && !s.in("format", t.text):
		return one('P', Platform, value, n)
	case class == "I" && value == "competitor" && (s.spoken() || s.in("owner", s.before()) && s.says(s.behind(n)) && !s.topical([]token{s.behind(n)})): // it is mentioned: which?
		return cell{class: 'z'}, n
	case class == "I" && (value == "competitor" || !adjective && (value == "niche" || n > 1 || s.behind(1).kind == mark || s.key("cell", s.behind(1).text) == "o")):
		return one('I', Kind, value, n)
	case class == "P" && !adjective:
		return one('P', Platform, value, n)
	case class == "L" && (not || s.languageOf(t, s.behind(n)) || !adjective || s.in("language-before", s.before()) || s.in("language-after", s.behind(1).text)):
		return one('L', Language, value, n)
	}
	return cell{}, 0
}

// languageOf reports a language before what videos are about: "English skincare videos", "French ads".
func (s *celler) languageOf(t, next token) bool {
	return s.says(next) && (s.adverts[words.Stems(next.text)] || s.in("language-alone", t.text) && s.topical([]token{next}) && !s.in("language-thing", next.text))
}

// compounds reports a word that says nothing but where another follows: "no video games".
func (s *celler) compounds(t token) bool {
	all := letters(s.cells)
	_, words := s.phrase()
	_, bounds := s.find("piece", s.tokens, s.at+1)
	if last := len(s.cells) - 1; s.key("compounding", t.text) == "verb" && last >= 0 && s.cells[last].class == 'K' && (len(s.cells[last].tokens) > 1 || s.in("noun-less", s.cells[last].text())) {
		return false // "never show crypto"
	}
	return len(s.run) == 0 && words < 2 && bounds == 0 && s.in("compounding", t.text) && s.says(s.behind(1)) && !s.in("stop", s.behind(1).text) && !s.in("advert", s.behind(1).text) &&
		(strings.HasSuffix(all, "a") || strings.IndexByte(all, 'r') < 0 && (all == "" || strings.IndexByte("NKAME,&|", all[len(all)-1]) >= 0))
}

// told reports that videos are about the name that follows, not on it or in it: "no mention
// of TikTok or Instagram".
func (s *celler) told() bool {
	i := len(s.cells) - 1
	for i >= 0 && (strings.IndexByte(",&|", s.cells[i].class) >= 0 || s.in("name", s.cells[i].text())) {
		i--
	}
	return len(s.run) == 0 && i >= 0 && s.cells[i].class == 'a'
}

// spoken reports that what follows is what a video says.
func (s *celler) spoken() bool {
	all := letters(s.cells)
	return strings.LastIndexAny(all, "aH") > strings.LastIndexAny(all, verbs+".c")
}

// topical reports words that are known to name what videos are about: quoted ones, those
// of the lexicon and those of the brief.
func (c *compiler) topical(tokens []token) bool {
	if c.meanings[words.Stems(strings.Join(wordsOf(tokens), " "))] != nil {
		return true
	}
	return !slices.ContainsFunc(tokens, func(t token) bool {
		known := t.kind == word && (c.in("noise", t.text) || c.in("stop", t.text) || c.in("topic", t.text) || c.in("topic", strings.TrimSuffix(t.text, "s")) ||
			c.adverts[words.Stems(t.text)] || c.known(words.Stem(t.text)) || c.meanings[words.Stems(t.text)] != nil)
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
		odd = odd || t.kind == word && (s.in("clausal", t.text) || s.in("counted", t.text) || s.in("vague", t.text) || len(t.text) == 1 || s.in("place", t.text) || strings.HasSuffix(t.text, "ly") && !s.in("lynoun", t.text))
		key, _ := s.find("piece", run, i)
		compares := strings.HasPrefix(key, "c ") && (i == 0 && (key == "c >" || key == "c <") || i+1 < len(run) && run[i+1].kind == number)
		c.hard = c.hard || compares || s.near(t.text) != "" || s.in("unbound", t.text) || t.text == "than" || s.key("piece", t.text+" than") != "" || factor(strings.TrimPrefix(strings.Split(s.key("piece", t.text), ";")[0], "n ")) > 2 || t.kind == number && len(run) == 1 || t.kind == length
		other := language.Of(t.text) // of another language
		if s.in("judgement", t.text) || s.in("degree", t.text) || s.in("size", t.text) || s.in("stop", t.text) && s.in("vague", t.text) || other != "" && !strings.Contains(other, "en") && !s.lexicon.known[t.text] {
			c.class = 'z'
		}
	}
	if s.begin > 0 && s.tokens[s.begin-1].kind == word {
		before := s.tokens[s.begin-1].text
		odd = odd || s.in("owner", before) || s.skipped == s.begin-1 && s.in("place", before)
		c.hard = c.hard || strings.HasPrefix(s.key("cell", before), "p")
		if strings.HasPrefix(s.key("name", before), "P ") && (!known || slices.ContainsFunc(run, func(t token) bool { return s.in("compound", t.text) })) {
			c.class = 'z' // "no Facebook ads tutorials": about Facebook, or on it?
		}
	}
	of := "" // what the words are of: people, or "foul language"
	if s.end < len(s.tokens) && s.tokens[s.end].kind == word {
		of = s.tokens[s.end].text
	}
	if s.key("cell", of) == "p" || of == "language" || c.content == 0 || len(run) == 1 && s.measure(run[0].text) || odd && !known || c.hard {
		c.class = 'z'
	}
	if c.class == 'w' && known {
		c.class = 't'
	}
	return c
}
