package rules

import (
	"slices"
	"strings"
)

// plainly rewrites how people say a rule to the forms that clauses are read in. It takes
// out courtesies, reasons and brackets, and turns "keep X out" and "X: remove them" into
// "skip X".
func (l *lexicon) plainly(tokens []token) []token {
	tokens = l.brackets(l.dated(tokens))
	var sentences [][]token
	for _, sentence := range byMark(tokens, ".!?;") {
		if verdict := sentence[:len(sentence):len(sentence)]; len(sentences) > 0 && l.refuses(verdict) == 0 {
			sentences[len(sentences)-1] = append(sentences[len(sentences)-1], sentence...) // "under 500 likes? skip it"
			continue
		}
		sentences = append(sentences, sentence)
	}
	var out []token
	for i, sentence := range sentences {
		for at := range sentence { // "for Reels 2k likes, for TikTok 5k"
			if isMark(sentence[at], ",") && l.in("scope", sentence[0].text) && at+1 < len(sentence) && l.in("scope", sentence[at+1].text) {
				if on, _ := l.scope(sentence[at+1:]); on == nil {
					continue
				}
				sentence[at].text = ";"
			}
		}
		sentence = l.withoutAsides(sentence)
		if len(sentences) > 1 && i > 0 && l.comments(sentence) {
			continue // "Skip giveaways. They never convert."
		}
		out = append(out, l.refused(l.kept(sentence))...)
	}
	return out
}

// byMark splits behind marks.
func byMark(tokens []token, marks string) (all [][]token) {
	from := 0
	for i, t := range tokens {
		if t.kind == mark && strings.Contains(marks, t.text) {
			all = append(all, tokens[from:i+1:i+1])
			from = i + 1
		}
	}
	if from < len(tokens) {
		all = append(all, tokens[from:len(tokens):len(tokens)])
	}
	return all
}

func isMark(t token, marks string) bool { return t.kind == mark && strings.Contains(marks, t.text) }

// brackets takes out what is in brackets if it comments, and else makes a part of it.
func (l *lexicon) brackets(tokens []token) []token {
	var out []token
	for i := 0; i < len(tokens); i++ {
		if !isMark(tokens[i], "([") {
			if !isMark(tokens[i], ")]") {
				out = append(out, tokens[i])
			}
			continue
		}
		end := i + 1
		for end < len(tokens) && !isMark(tokens[end], ")]") {
			end++
		}
		if inner := tokens[i+1 : end]; l.content(inner) && !l.comments(inner) {
			lead := comma(tokens[i])
			if slices.ContainsFunc(inner[:min(2, len(inner))], func(t token) bool { return t.text == "ones" || t.text == "those" }) {
				lead = token{kind: word, text: "both", from: lead.from, to: lead.to} // "promos (the ones that say "download now")"
			}
			out = append(append(append(out, lead), inner...), comma(inner[len(inner)-1]))
		}
		i = end
	}
	return out
}

func comma(at token) token { return token{kind: mark, text: ",", from: at.to, to: at.to} }

// comments reports words about a rule that ask for nothing: "they never convert".
func (l *lexicon) comments(tokens []token) bool {
	if len(tokens) == 0 || tokens[0].kind != word || !l.in("comment", tokens[0].text) {
		return false
	}
	return !slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind != word && t.kind != mark || t.kind == word && (l.in("demand", t.text) || l.platforms[t.text] != "" || l.languages[t.text] != "")
	})
}

// withoutAsides takes out courtesies and reasons.
func (l *lexicon) withoutAsides(tokens []token) []token {
	var out []token
	for i := 0; i < len(tokens); i++ {
		if n := longest(tokens, i, l.asides); n > 0 && (i == 0 || tokens[i-1].text != "not" && !l.verdicts[tokens[i-1].text+" "+tokens[i].text]) {
			i += n - 1
			continue
		}
		separated := i > 0 && isMark(tokens[i-1], ",-:")
		if separated && tokens[i].text == "so" && l.comments(tokens[:i]) { // "we sell to parents, so no alcohol"
			out = nil
			continue
		}
		if longest(tokens, i, l.reasons) > 0 || separated && l.comments(tokens[i:]) {
			if !l.content(out) { // "because we sell oat milk, skip dairy"
				for i < len(tokens) && !isMark(tokens[i], ",") {
					i++
				}
				continue
			}
			break
		}
		out = append(out, tokens[i])
	}
	return out
}

// longest is how many tokens the longest phrase takes that is at a place.
func longest(tokens []token, at int, phrases map[string][][]string) int {
	for _, words := range phrases[tokens[at].text] {
		if matches(tokens, at, words) {
			return len(words)
		}
	}
	return 0
}

// kept turns "keep X out of my feed" into "skip X".
func (l *lexicon) kept(tokens []token) []token {
	for i, t := range tokens {
		if t.kind != word || !l.in("out-verb", t.text) || i > 0 && tokens[i-1].kind == word && !l.noise[tokens[i-1].text] {
			continue
		}
		for end := i + 1; end < len(tokens) && !isMark(tokens[end], ",.!?;:"); end++ {
			if tokens[end].kind != word || tokens[end].text != "out" && tokens[end].text != "away" {
				continue
			}
			rest := end + 1
			of := rest < len(tokens) && tokens[rest].kind == word && (tokens[rest].text == "of" || tokens[rest].text == "from")
			if end == i+1 { // "keep out giveaways"
				if of {
					rest++
				}
				return slices.Concat(tokens[:i], []token{skip(t)}, tokens[rest:])
			}
			for of && rest < len(tokens) && tokens[rest].kind == word {
				rest++
			}
			if rest < len(tokens) && tokens[rest].kind == word {
				break
			}
			return slices.Concat(tokens[:i], []token{skip(t)}, tokens[i+1:end], tokens[rest:])
		}
	}
	return tokens
}

// skip is the verb of a refusal in the place of a token.
func skip(at token) token { return token{kind: word, text: "remove", from: at.from, to: at.to} }

// refuses is where a verdict at the end of a sentence begins: "…: remove", "…, skip them".
// It is -1 if there is none.
func (l *lexicon) refuses(tokens []token) int {
	end := len(tokens)
	for end > 0 && tokens[end-1].kind == mark {
		end--
	}
	at := end
	for at > 0 && tokens[at-1].kind == word && l.in("pronoun", tokens[at-1].text) {
		at--
	}
	pronoun := at < end
	for n := min(3, at); n > 0; n-- {
		from := at - n
		verb := strings.Join(mapped(textsOf(tokens[from:at]), strings.ToLower), " ")
		if !l.verdicts[verb] {
			continue
		}
		if pronoun || from == 0 || isMark(tokens[from-1], ":,-=>?→") {
			return from
		}
	}
	return -1
}

func textsOf(tokens []token) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		if t.kind == word {
			out[i] = t.text
		}
	}
	return out
}

// refused turns "X are noise, remove them" into "skip X".
func (l *lexicon) refused(tokens []token) []token {
	at := l.refuses(tokens)
	if at <= 0 {
		return tokens
	}
	head := tokens[:at:at]
	for len(head) > 0 && (head[len(head)-1].kind == mark || head[len(head)-1].text == "so" || head[len(head)-1].text == "and" || head[len(head)-1].text == "then") {
		head = head[:len(head)-1]
	}
	if len(head) == 0 {
		return tokens // "so skip it"
	}
	first := token{from: head[0].from, to: head[0].from}
	if head[0].kind == word && l.in("condition", head[0].text) { // "if it is over 60s and has under 1k likes"
		head[0] = token{kind: word, text: "both", from: first.from, to: first.to}
		if !slices.ContainsFunc(head, conjunction) {
			head = head[1:]
		}
	}
	if l.content(head) && l.ordered(head) && slices.ContainsFunc(tokens[len(head):at], func(t token) bool { return isMark(t, "?") }) {
		return append([]token{{kind: word, text: "note", from: head[0].from, to: head[0].from}}, head...) // "no English? no thanks"
	}
	if !l.content(head) || l.ordered(head) {
		return tokens // it has a verb of its own
	}
	return append([]token{skip(first)}, l.subject(head)...)
}

// subject is the part of "X are Y" that is spoken of, unless Y has a bound.
func (l *lexicon) subject(tokens []token) []token {
	for i, t := range tokens {
		if i == 0 || t.kind != word || t.text != "is" && t.text != "are" || tokens[i-1].kind == word && l.in("relative", tokens[i-1].text) {
			continue
		}
		if slices.ContainsFunc(tokens[i+1:], func(t token) bool {
			return t.kind != word && t.kind != mark || l.numbers[t.text] > 0 || l.languages[t.text] != ""
		}) {
			return tokens
		}
		return tokens[:i]
	}
	return tokens
}

// scope reads a platform that a whole sentence is about: "For YouTube, at least 10k views".
func (l *lexicon) scope(tokens []token) (*Condition, []token) {
	at := 0
	led := tokens[at].kind == word && l.in("scope", tokens[at].text)
	if led {
		at++
	}
	on := Condition{Field: Platform}
	for at < len(tokens) && tokens[at].kind == word {
		t := tokens[at].text
		switch {
		case l.platforms[t] != "":
			on.Values = append(on.Values, l.platforms[t])
		case l.formats[t] != "" && len(on.Values) > 0:
		case l.formats[t] != "" && led:
			on.Values = append(on.Values, l.formats[t])
		case t == "and" || t == "or" || len(on.Values) > 0 && l.in("object", t):
		default:
			return l.scoped(tokens, at, led, on)
		}
		at++
	}
	return l.scoped(tokens, at, led, on)
}

func (l *lexicon) scoped(tokens []token, at int, led bool, on Condition) (*Condition, []token) {
	if len(on.Values) == 0 || at >= len(tokens) {
		return nil, tokens
	}
	separated := isMark(tokens[at], ",:-")
	if !led && !isMark(tokens[at], ":") || !separated && tokens[at].kind == mark {
		return nil, tokens
	}
	rest := tokens[at:]
	if separated {
		rest = rest[1:]
	}
	if !l.content(slices.DeleteFunc(slices.Clone(rest), func(t token) bool { return t.kind == word && (t.text == "only" || l.platforms[t.text] != "") })) {
		return nil, tokens // "for YouTube only"
	}
	slices.Sort(on.Values)
	on.Values = slices.Compact(on.Values)
	return &on, rest
}

// within makes checks ask nothing of other platforms.
func within(on *Condition, checks []Check) []Check {
	if on == nil {
		return checks
	}
	checks = slices.DeleteFunc(checks, func(c Check) bool { // "For Instagram, only Reels …"
		return c.Effect == Require && !c.Any && c.Conditions[0].Field == Platform && slices.Equal(c.Conditions[0].Values, on.Values)
	})
	for i := range checks {
		c := &checks[i]
		switch c.Effect {
		case Require:
			if c.Any { // one of several is enough: all must fail to drop
				for j := range c.Conditions {
					c.Conditions[j].Not = !c.Conditions[j].Not
				}
			} else {
				c.Conditions[0].Not = !c.Conditions[0].Not
			}
			c.Effect, c.Any = Drop, false
			c.Conditions = append([]Condition{*on}, c.Conditions...)
		default:
			c.Conditions = append([]Condition{*on}, c.Conditions...)
		}
	}
	return checks
}

// ordered reports a verb that says what becomes of a video.
func (l *lexicon) ordered(tokens []token) bool {
	for i, t := range tokens {
		for _, one := range l.leads[t.text] {
			if (one.mode == must || one.mode == never && (i == 0 || !one.start)) && matches(tokens, i, one.words) {
				return true
			}
		}
	}
	return false
}
