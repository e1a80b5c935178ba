package rules

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/words"
)

// mode is how a clause is meant.
type mode int

const (
	plain mode = iota // no verb: "under 60 seconds"
	want              // "find …", "show me …"
	soft              // "prefer …"
	must              // "only …"
	never             // "skip …"
)

// part is what is between two conjunctions, as conditions.
type part struct {
	found []Condition
	// lost are words that no condition could be made of.
	lost []string
	// or and and mark a part behind such a word.
	or, and bool
	// on marks "… on TikTok", named a part that names where words are, people one about
	// creators, noun one that says "videos", relative one with "that" or "if", and both
	// one with that word.
	on, named, people, noun, relative, both bool
	// last is what its last words are about.
	last Condition
}

// listed is what the parts of a clause have in common.
type listed struct {
	*compiler
	mode mode
	// saying: what follows is what a video says, and strict: it must.
	saying, strict bool
	// in is the part of the text that the clause is about.
	in facts.Part
}

// parts makes conditions of the parts of a list.
func (x *listed) parts(list []node) (all []part) {
	or, and := false, false
	for _, n := range list {
		if strings.IndexByte(",&|", n.class) >= 0 {
			or, and = or || n.class == '|', and || n.class == '&'
			continue
		}
		in := x.in
		one := x.part(n)
		if one.or, one.and = or, and; one.named && in == "" && x.in == "" && slices.ContainsFunc(all, part.worded) { // "no giveaways in speech or captions"
			one.lost = append(one.lost, "where the words before are")
		}
		all, or, and = append(all, one), false, false
	}
	for i := range slices.Backward(all) {
		for j := range all[i].found {
			if c := &all[i].found[j]; c.numeric() && (c.Field == "" || c.Op == "") && !x.complete(c, all, i, j) {
				all[i].lost, c.Op = append(all[i].lost, "a number without a unit"), ""
			} else if c.scale < 0 && slices.ContainsFunc(all[:i], func(p part) bool {
				return slices.ContainsFunc(p.found, func(c Condition) bool { return counts[c.Field] != nil })
			}) {
				all[i].lost = append(all[i].lost, "minutes or millions") // "views min 10k, max 1m"
			}
		}
		all[i].found = slices.DeleteFunc(all[i].found, func(c Condition) bool { return c.numeric() && c.Op == "" })
	}
	return all
}

// complete gives a bound the unit or the comparison of one beside it: "under 15 or over 60
// seconds", "10k views and 500 likes".
func (x *listed) complete(c *Condition, all []part, at, of int) bool {
	var before, behind []Condition
	for _, p := range all[:at] {
		before = append(before, p.found...)
	}
	whole := func(b Condition) bool { return b.numeric() && b.Op != "" && b.Field != "" && b.Field != Posted }
	before = slices.DeleteFunc(append(before, all[at].found[:of]...), func(b Condition) bool { return !whole(b) })
	if at+1 < len(all) {
		behind = all[at+1].found
	}
	take := func(from Condition) { c.Field, c.Unit, c.Number = from.Field, from.Unit, c.Number*max(1, from.scale) }
	switch last := len(before) - 1; {
	case c.Op == "" && last >= 0 && (before[last].Field != Age || c.Field == Age):
		if c.Op = before[last].Op; c.Field == "" { // "10k views on TikTok and 5k on YouTube"
			take(before[last])
		}
	case c.Op == "" && x.mode != never && counts[c.Field] != nil && c.Field != Followers:
		c.Op = ">="
	case c.Op == "":
		return false
	case slices.ContainsFunc(behind, whole):
		take(behind[slices.IndexFunc(behind, whole)])
	case all[at].people && c.Number >= fewestFollowers:
		c.Field = Followers // "creators under 100k", unlike "creators over 30"
	case last >= 0 && before[last].Op[0] != c.Op[0]: // "at least 30 seconds, at most 90"
		take(before[last])
	default:
		return false
	}
	return c.Field != Engagement && c.Field != LikeRate
}

// fewestFollowers is the least bare number beside creators that is no age.
const fewestFollowers = 500

// part makes the conditions of one part.
func (x *listed) part(n node) (out part) {
	in := x.in
	texts := slices.IndexFunc(n.cells, func(c cell) bool { return strings.IndexByte("twz", c.class) >= 0 })
	letters := letters(n.cells)
	out.people, out.noun, out.relative, out.both = peopled().MatchString(letters), strings.Contains(letters, "o"), strings.ContainsAny(letters, "rC"), strings.Contains(letters, "b")
	for i, c := range n.cells {
		if len(c.found) > 0 {
			out.last = c.found[0]
		} else if strings.IndexByte("twz", c.class) >= 0 {
			out.last = Condition{Field: Text, Values: []string{c.text()}}
		}
		switch c.class {
		case 'H':
			if in, out.named = c.part, true; i < texts {
				x.in = in
			}
		case 'a':
			x.saying = true
		case 'B', 'G':
			if len(out.found) > 0 && out.found[0].numeric() && (c.found[0].Field == Age || c.found[0].Field == Duration) && (c.tokens[0].text == "within" || c.tokens[0].text == "in" && c.found[0].Op != "<=") {
				out.lost = append(out.lost, "a count in a time") // "10k views within a day"
			}
			out.found = append(out.found, slices.Clone(c.found)...)
		case '@', '#', 'P', 'L', 'I', 'Z', 'Q':
			out.on = out.on || c.class == 'P' && i > 0 && n.cells[i-1].class == 's'
			out.take(c.found[0])
		}
	}
	if at := strings.IndexByte(letters, 'C'); at > 0 && (x.mode == plain || x.mode == must) && strings.ContainsAny(letters[:at], "@#PLIZQHtw") {
		out.lost = append(out.lost, "what becomes of others") // "YouTube if over 1M views"
	}
	x.saying = x.saying || x.in != "" && strings.Contains(letters, "v")
	exact := slices.ContainsFunc(out.found, func(c Condition) bool { return c.numeric() || c.Field == Creator })
	for _, c := range n.cells {
		if strings.IndexByte("twz", c.class) >= 0 {
			x.phrase(c, in, exact, &out)
		}
	}
	if out.people && !out.noun && (out.of(Age) || out.of(Posted)) {
		out.lost = append(out.lost, "the age of an account") // "accounts under 6 months old"
	}
	if in == "" && out.of(Words) || in != "" && out.of(Duration) {
		out.lost = append(out.lost, "what is counted") // "at least 20 words spoken", "hooks under 3 seconds"
	}
	slices.SortStableFunc(out.found, func(a, b Condition) int { return min(1, len(a.Values)) - min(1, len(b.Values)) }) // bounds first
	for i := range out.found {
		if c := &out.found[i]; x.mode != want && x.mode != soft && (c.Field == Text || c.Field == Words || c.Field == Characters) { // "find hooks about …" means videos
			c.In = in
		}
	}
	return out
}

// take adds a name; two of a kind are alternatives.
func (o *part) take(c Condition) {
	for i := range o.found {
		had := &o.found[i]
		if had.Field == c.Field && had.Not == c.Not && len(had.Values) > 0 {
			if c.Field == Language || c.Field == Platform { // "English captions on German videos"
				o.lost = append(o.lost, "two in one")
			}
			had.Values = append(slices.Clone(had.Values), c.Values...)
			return
		}
	}
	o.found = append(o.found, c)
}

// phrase makes words what a text mentions, if they may be its subject. exact says that the
// part has a bound or a creator.
func (x *listed) phrase(c cell, in facts.Part, exact bool, out *part) {
	quote := c.tokens[0].kind == quoted
	most := 2
	if x.mode == plain || x.saying && x.mode == never && !x.strict {
		most = 3
	}
	asks := c.text() == "question" || c.text() == "questions"
	soften := x.mode == want || x.mode == soft
	guess := (x.mode != never || x.strict || exact) && !x.saying && c.class != 't'
	switch {
	case in == facts.Hook && asks:
		out.found = append(out.found, Condition{Field: Question})
	case soften && !c.hard:
		found := Condition{Field: Text}
		for _, t := range c.tokens {
			if t.kind == quoted || !x.lexicon.in("noise", t.text) && !x.lexicon.in("stop", t.text) && !x.lexicon.in("judgement", t.text) && !x.lexicon.in("idle", t.text) {
				found.Values = append(found.Values, t.text)
			}
		}
		if len(found.Values) > 0 {
			out.take(found)
		}
	case c.class == 'z' || asks || !quote && (c.content > most || guess):
		out.lost = append(out.lost, c.text())
	case x.adverts[words.Stems(c.text())] && !quote: // what advertising calls itself
		out.found = append(out.found, Condition{Field: Text, Values: []string{"#ad", "#ads", "#sponsored", "sponsored", "paid partnership", "advertisement"}})
	default:
		out.found = append(out.found, Condition{Field: Text, Values: []string{c.text()}})
	}
}

// numbers reports a part with a bound, worded one that searches texts, and of one with a
// condition on a field.
func (p part) numbers() bool { return slices.ContainsFunc(p.found, Condition.numeric) }
func (p part) worded() bool  { return p.of(Text) }
func (p part) of(field Field) bool {
	return slices.ContainsFunc(p.found, func(c Condition) bool { return c.Field == field })
}
