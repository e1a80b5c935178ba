package scrolls

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The weights of a term by where it stands. A rule tells most of what is wanted
// where it says that it wants nothing else.
const (
	inPrompt      = 3.0
	inTag         = 3.0
	inOnlyRule    = 3.0
	inRule        = 2.0
	inOpening     = 1.5
	inDescription = 1.0
)

// longestTerm is the most words of a term: platforms find little by longer ones.
const longestTerm = 3

// keywords are the niche terms of a brief, the best first. The method is plain, so
// that anybody can tell why a term is there: a term is a run of up to three words
// that carry a topic, between words that do not, and counts as often as it is said,
// by the weight of the place. What a rule or a text says not to want counts nothing,
// nor do the words of the brand's own name. Ties go to the term that comes first.
func keywords(brief stage.Brief, rules []stage.Rule, prompt string, limit int) []string {
	f := &finder{skip: map[string]bool{}, index: map[string]*term{}}
	for text := range strings.FieldsFuncSeq(strings.ToLower(brief.Name), apart) {
		f.skip[text] = true
	}
	whole := prompt + "\n" + brief.Description
	for _, rule := range rules {
		whole += "\n" + rule.Text
	}
	f.know(whole)
	f.read(prompt, inPrompt, inPrompt, true)
	for _, rule := range rules {
		weight := inRule
		if f.exclusive(rule.Text) {
			weight = inOnlyRule
		}
		f.read(rule.Text, weight, weight, true)
	}
	f.read(brief.Description, inOpening, inDescription, false)
	return f.best(limit)
}

// term is a candidate.
type term struct {
	text  string
	score float64
}

// finder gathers the terms of some texts in one language.
type finder struct {
	lexicon
	skip  map[string]bool
	found []*term
	index map[string]*term
}

// token is a word as it is written, or a mark between words (text is empty).
type token struct {
	text, lower string
	tag         bool
	// end marks what ends a sentence; else a mark only ends a run.
	end bool
}

// tokens splits a text. What cannot be in a word is a mark.
func tokens(text string) []token {
	var all []token
	from := -1
	flush := func(to int) {
		if from < 0 {
			return
		}
		raw := text[from:to]
		from = -1
		word := strings.Trim(raw, "'’-#")
		if word == "" {
			all = append(all, token{})
			return
		}
		all = append(all, token{text: word, lower: strings.ToLower(word), tag: strings.HasPrefix(raw, "#")})
	}
	for at, r := range text {
		if !apart(r) {
			if from < 0 {
				from = at
			}
			continue
		}
		flush(at)
		if !unicode.IsSpace(r) || r == '\n' {
			all = append(all, token{end: strings.ContainsRune(".!?;:\n", r)})
		}
	}
	flush(len(text))
	return all
}

// read counts the terms of a text; opening weighs its first sentence. In a list of
// rules a negation goes on to the end of the sentence, or to where something is
// wanted again; in prose to the next mark.
func (f *finder) read(text string, opening, rest float64, listed bool) {
	weight := opening
	var run []token
	negated, first := false, false // first: nothing of what is not wanted was said yet
	flush := func() {
		f.run(run, weight)
		run = nil
	}
	for _, t := range tokens(text) {
		if _, after, elided := strings.Cut(strings.ReplaceAll(t.lower, "’", "'"), "'"); elided && f.elides && utf8.RuneCountInString(after) > 2 {
			flush()
			t.lower = after
		}
		switch {
		case t.tag:
			flush()
			f.add(t.lower, inTag)
		case t.text == "":
			flush()
			if t.end || !listed {
				negated = false
			}
			if t.end {
				weight = rest
			}
		case f.forbids[t.lower]:
			flush()
			negated, first = true, true
			continue
		case f.wants[t.lower]:
			flush()
			negated = negated && first // "never show …"
		case negated:
			first = first && !f.carries(t)
		case f.carries(t):
			run = append(run, t)
		case f.joins[t.lower] && len(run) == 1:
			run = append(run, t)
		default:
			flush()
		}
	}
	flush()
}

// carries tells words that carry a topic.
func (f *finder) carries(t token) bool {
	if utf8.RuneCountInString(t.lower) < 3 && !strings.ContainsFunc(t.lower, unicode.IsDigit) || f.skip[t.lower] || f.common[t.lower] || amount(t.lower) {
		return false
	}
	if !strings.ContainsFunc(t.lower, unicode.IsLetter) {
		return false
	}
	if f.nounsAreCapital {
		first, _ := utf8.DecodeRuneInString(t.text)
		return unicode.IsUpper(first)
	}
	return true
}

// amount tells 10k and 2x from 3d.
func amount(word string) bool {
	digits := strings.TrimRight(word, "0123456789")
	return digits == "" || strings.Trim(word, "0123456789") == "k" && word[0] <= '9' || strings.Trim(word, "0123456789") == "m" && word[0] <= '9'
}

// run adds the terms of a run: as a whole, or its last words where it is too long.
// A joining word at its end joins nothing.
func (f *finder) run(words []token, weight float64) {
	for len(words) > 0 && f.joins[words[len(words)-1].lower] {
		words = words[:len(words)-1]
	}
	if len(words) > 1 && f.joins[words[1].lower] {
		f.add(words[0].lower, weight/2) // the head alone says nearly as much
		words = words[:min(len(words), longestTerm)]
	}
	if n := len(words); n > longestTerm {
		words = words[n-longestTerm:]
	}
	text := make([]string, len(words))
	for i, w := range words {
		text[i] = w.lower
	}
	if len(words) > 0 {
		f.add(strings.Join(text, " "), weight)
	}
}

// add counts a term; one that differs in an ending s is the same.
func (f *finder) add(text string, weight float64) {
	if utf8.RuneCountInString(text) < 3 || f.skip[text] {
		return
	}
	key := strings.TrimSuffix(text, "s")
	if f.index[key] == nil {
		f.index[key] = &term{text: text}
		f.found = append(f.found, f.index[key])
	}
	f.index[key].score += weight
}

// best are the terms with the highest scores.
func (f *finder) best(limit int) []string {
	slices.SortStableFunc(f.found, func(a, b *term) int { return cmp.Compare(b.score, a.score) })
	terms := make([]string, 0, limit)
	for _, t := range f.found[:min(limit, len(f.found))] {
		terms = append(terms, t.text)
	}
	return terms
}

// exclusive tells a rule that says what it is to be about.
func (f *finder) exclusive(rule string) bool {
	return slices.ContainsFunc(tokens(rule), func(t token) bool { return f.only[t.lower] })
}

// apart tells what lies between words.
func apart(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !strings.ContainsRune("'’-#", c)
}
