package plan

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The weight of a term depends on where it occurs. A rule weighs most where it
// names the only thing that is wanted.
const (
	inPrompt      = 3.0
	inTag         = 3.0
	inOnlyRule    = 3.0
	inRule        = 2.0
	inOpening     = 1.5
	inDescription = 1.0
)

// judgementWords make a rule a matter of taste or of the viewer, which is no search term.
var judgementWords = sync.OnceValue(func() map[string]bool {
	return words(`friendly funny warm boring cringe nice pretty beautiful aesthetic quality calm cozy cosy female male women men customers audience would
enjoy love hate suitable appropriate safe educational inspiring motivational authentic original professional credible relatable wholesome positive worth worthwhile spam noise`)
})

// vagueTerms are places and times that alone say nothing of a niche: "espresso at home".
var vagueTerms = sync.OnceValue(func() map[string]bool {
	return words("home house day days morning evening night week weekend life work people family world time year")
})

func words(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		out[word] = true
	}
	return out
}

// longestTerm is the most words of a term: platforms find little by longer ones.
const longestTerm = 3

// keywords returns the niche terms of a brief, the best first. The method is simple,
// so that a reader can see why a term was chosen: a term is a run of up to three
// topic words between words without a topic. Its score is the sum of the weights of
// the places where it occurs. Words that a rule or a text excludes and the words of
// the brand's name do not count. Equal scores keep the order of the texts.
func keywords(brief stage.Brief, rules []stage.Rule, prompt string, limit int) []string {
	f := &finder{skip: map[string]bool{}, index: map[string]*term{}}
	for text := range strings.FieldsFuncSeq(strings.ToLower(brief.Name), separates) {
		f.skip[text] = true
	}
	whole := prompt + "\n" + brief.Description
	for _, rule := range rules {
		whole += "\n" + rule.Text
	}
	f.learn(whole)
	f.read(prompt, inPrompt, inPrompt, true)
	for _, rule := range rules {
		switch {
		case f.has(rule.Text, judgementWords()): // no one can search for what is funny
		case f.has(rule.Text, f.only):
			f.read(rule.Text, inOnlyRule, inOnlyRule, true)
		default:
			f.read(rule.Text, inRule, inRule, true)
		}
	}
	f.read(brief.Description, inOpening, inDescription, false)
	return f.best(limit)
}

// term is a candidate.
type term struct {
	text  string
	score float64
}

// finder counts the terms of some texts in one language.
type finder struct {
	lexicon
	skip  map[string]bool
	found []*term
	index map[string]*term
}

// token is a word, or with an empty text a mark between words.
type token struct {
	text, lower string
	tag         bool
	// end: the mark ends a sentence; any other mark only ends a run.
	end bool
}

// tokens splits a text into words and marks.
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
		if !separates(r) {
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

// read counts the terms of a text; opening is the weight of its first sentence. In a
// list of rules a negation lasts to the end of the sentence or to the next word that
// asks for something; in prose it lasts to the next mark.
func (f *finder) read(text string, opening, rest float64, listed bool) {
	weight := opening
	var run []token
	negated, first := false, false // first: no excluded topic was read yet
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

// carries reports whether a word has a topic.
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

// amount reports whether a word is a count such as 10k; 3d is none.
func amount(word string) bool {
	digits := strings.TrimRight(word, "0123456789")
	return digits == "" || strings.Trim(word, "0123456789") == "k" && word[0] <= '9' || strings.Trim(word, "0123456789") == "m" && word[0] <= '9'
}

// run adds the term of a run: all of it, or its last words where it is too long. A
// joining word at the end is cut off.
func (f *finder) run(words []token, weight float64) {
	for len(words) > 0 && f.joins[words[len(words)-1].lower] {
		words = words[:len(words)-1]
	}
	if len(words) > 1 && f.joins[words[1].lower] {
		f.add(words[0].lower, weight/2) // the first word alone is nearly as good
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

// add counts a term; a final s makes no difference.
func (f *finder) add(text string, weight float64) {
	if utf8.RuneCountInString(text) < 3 || f.skip[text] || vagueTerms()[text] {
		return
	}
	key := strings.TrimSuffix(text, "s")
	if f.index[key] == nil {
		f.index[key] = &term{text: text}
		f.found = append(f.found, f.index[key])
	}
	f.index[key].score += weight
}

// best returns the terms with the highest scores.
func (f *finder) best(limit int) []string {
	slices.SortStableFunc(f.found, func(a, b *term) int { return cmp.Compare(b.score, a.score) })
	terms := make([]string, 0, limit)
	for _, t := range f.found[:min(limit, len(f.found))] {
		terms = append(terms, t.text)
	}
	return terms
}

// has reports whether a rule has one of the words.
func (f *finder) has(rule string, words map[string]bool) bool {
	return slices.ContainsFunc(tokens(rule), func(t token) bool { return words[t.lower] })
}

// separates reports whether a character is outside words.
func separates(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !strings.ContainsRune("'’-#", c)
}
