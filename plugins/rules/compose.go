package rules

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

var (
	// judgement is a part that says what something is like: "X are noise", "X is too old".
	judgement = lazy.Pattern(`^(?:([^ir]*[BG@#PLIZHtwz][^ir]*)i[^BG@#PLIZQH]*[twz][^BG@#PLIZQH]*|([^ir]*[BG][^ir]*)i)$`)
	// peopled is a part about creators with a bound: "creators under 100k", unlike "2 per creator".
	peopled = lazy.Pattern(`p[^BG]*[BG]`)
)

// reading is how a clause is read.
type reading struct {
	*compiler
	prompt bool
}

func (r *reading) context(m mode) *listed { return &listed{compiler: r.compiler, mode: m} }

// clause makes the checks of a row. What is partly lost has no checks that may drop too much.
func (r *reading) clause(name string, group func(int) []node) (checks []Check, lost []string) {
	switch name {
	case "refuse":
		return r.refuse(r.context(never), group(1), false)
	case "both": // "if it has under 1k views and is over 60s, skip it"
		return r.refuse(r.context(never), group(1), true)
	case "together": // "drop it if it's in French and has under 1k views"
		return r.together(group(1))
	case "unless":
		return r.except(r.refuse(r.context(never), group(1), false))(group(2))
	case "but": // "except for @foo, skip YouTube"
		return r.except(r.refuse(r.context(never), group(2), false))(group(1))
	case "keep":
		return r.except(r.require(nil, group(1)))(group(2))
	case "exempt":
		checks, lost = r.except(r.wish(plain, group(1)))(group(2))
		if slices.ContainsFunc(checks, func(c Check) bool {
			return c.Effect != Require || !c.Conditions[0].numeric() || c.Unless[0].Field != Creator
		}) {
			return nil, append(lost, "which of the two")
		}
		return checks, lost
	case "bounds":
		checks, lost = r.refuse(r.context(never), group(1), false)
		if group(2)[0].class == 'B' && slices.ContainsFunc(checks, func(c Check) bool { return slices.ContainsFunc(c.Conditions, Condition.numeric) }) {
			lost = append(lost, "both") // "no ads over 60 seconds and under 10k views"
		}
		more, missed := r.wish(plain, group(2))
		return append(checks, more...), append(lost, missed...)
	case "unsure": // "not over 2 minutes and in English"
		return nil, []string{"both"}
	case "not":
		return r.not(group(1), group(2))
	case "lack": // "skip what is not …"
		checks, lost = r.require(nil, group(1))
		return checks, append(lost, mixed(r.context(must).parts(group(1)))...)
	case "only":
		return r.require(nil, group(1))
	case "must":
		return r.require(group(1), group(2))
	case "mustnot":
		return r.mustNot(group(1), group(2))
	}
	return r.wish(map[string]mode{"plain": plain, "want": want, "soft": soft}[name], group(1))
}

// mostChoices is how many checks an exception of several things may make of one.
const mostChoices = 8

// except gives checks their exceptions; without them a rule would drop too much. What must all
// hold of an exception makes a check each: "no food unless vegan and over 1k views".
func (r *reading) except(checks []Check, lost []string) func(list []node) ([]Check, []string) {
	return func(list []node) (out []Check, _ []string) {
		x := r.context(must)
		x.saying = true // it can only keep more
		parts := x.parts(list)
		var exceptions [][]Condition
		for i, p := range parts {
			lost = append(lost, p.lost...)
			switch joined := p.and && !p.noun && len(p.found) > 0 && len(exceptions) > 0 && (p.numbers() || parts[i-1].numbers()); {
			case joined && p.numbers() && parts[i-1].numbers():
				last := &exceptions[len(exceptions)-1]
				*last = append(slices.Clone(*last), p.found...)
			case joined:
				lost = append(lost, "both")
			case len(p.found) > 0:
				exceptions = append(exceptions, p.found)
			}
		}
		choices := [][]Condition{nil}
		for _, all := range exceptions {
			var more [][]Condition
			for _, one := range all {
				for _, had := range choices {
					more = append(more, append(slices.Clone(had), one))
				}
			}
			if choices = more; len(choices) > mostChoices {
				lost = append(lost, "too many exceptions")
				break
			}
		}
		if len(lost) > 0 || len(exceptions) == 0 {
			return nil, lost
		}
		for _, check := range checks {
			if len(choices) > 1 && check.Effect == Require && !check.Any { // of several that require words one is enough
				check.Effect, check.Conditions = Drop, slices.Clone(check.Conditions)
				check.Conditions[0].Not = !check.Conditions[0].Not
			}
			for _, choice := range choices {
				of := func(c Condition) bool {
					return slices.ContainsFunc(choice, func(x Condition) bool { return speaker{}.phrase(x) == speaker{}.phrase(c) })
				}
				if check.Unless = choice; !slices.ContainsFunc(check.Conditions, of) { // "no YouTube, except Shorts under 30s"
					out = append(out, check)
				}
			}
		}
		return out, lost
	}
}

// refuse makes the checks of "no …". all asks for all of the parts together.
func (r *reading) refuse(x *listed, list []node, all bool) (checks []Check, lost []string) {
	parts := x.parts(list)
	var together []Condition
	for i := range parts {
		one := &parts[i]
		all = all || one.both && one.relative
		for _, next := range parts[i+1:] { // "TikToks and Reels under 1k views": is the bound of both?
			if len(one.found) == 1 && len(next.found) > 1 && slices.ContainsFunc(next.found, func(c Condition) bool {
				return !c.numeric() && sameWords(c.Field, one.found[0].Field)
			}) {
				lost = append(lost, "a bound of one of several")
			}
		}
		lost = append(lost, one.lost...)
		if i > 0 && !all {
			lost = append(lost, sharing(parts[i-1], one)...)
		}
		if joined := func(p part) bool { return p.or || p.and }; i > 0 && parts[i-1].numbers() && len(one.found) > 0 && !one.noun && !(one.worded() && len(parts) > 2) && !slices.ContainsFunc(parts[i:], joined) {
			lost = append(lost, "both") // "not more than a week old, in English": is the latter wanted?
		}
		if !all && one.both && !one.relative && (one.numbers() || one.worded()) {
			lost = append(lost, "both") // of a video that has both, or of each that has one?
		}
		if one.or {
			all = false
		}
		together = append(together, one.found...)
		if len(one.found) > 0 {
			checks = append(checks, Check{Effect: Drop, Conditions: one.found})
		}
	}
	if negated := func(c Check) bool { return c.Conditions[0].Not }; len(checks) > 1 && slices.ContainsFunc(checks, negated) {
		lost = append(lost, "not one and not another") // "skip non-English and non-German"
	}
	if all && len(checks) > 1 {
		if slices.ContainsFunc(together[1:], func(c Condition) bool { return c.numeric() && c.Field == together[0].Field }) {
			lost = append(lost, "both") // "under 10 seconds and over 3 minutes? drop"
		}
		checks = []Check{{Effect: Drop, Conditions: together}}
	}
	return simplify(checks), lost
}

// together makes the checks of "drop it if it's in French and has under 1k views"; of
// "… if it mentions coffee and tea" it is not said whether both must be there.
func (r *reading) together(list []node) (checks []Check, lost []string) {
	parts := r.context(never).parts(list)
	for i, p := range parts {
		if i > 0 && p.noun || i > 0 && len(p.found)*len(parts[i-1].found) > 0 && sameWords(p.found[0].Field, parts[i-1].last.Field) {
			return nil, []string{"both"}
		}
	}
	return r.refuse(r.context(never), list, true)
}

// sharing gives a part what those before it are about, where it is their kind of thing:
// "no TikToks about crypto or politics". It is lost where that cannot be said.
func sharing(before part, one *part) (lost []string) {
	if len(before.found) == 0 || len(one.found) == 0 || one.noun {
		return nil
	}
	head := func(c Condition) bool {
		return c.Field == Platform || c.Field == Language || c.Field == Creator || c.Field == Kind
	}
	a, b := before.found, one.found
	if (before.relative || before.noun) && one.and && !sameWords(a[len(a)-1].Field, b[0].Field) {
		return []string{"both"} // "videos with #ad and under 10k views are out"
	}
	same := func(c Condition) bool { return c.Field == b[0].Field || c.numeric() && b[0].numeric() }
	rest := slices.DeleteFunc(slices.Clone(a), same)
	if len(b) == 1 && len(rest) > 0 && same(before.last) && (head(b[0]) || b[0].Field == Hashtag || b[0].numeric() && one.or) {
		one.found = append(rest, b[0]) // "no ads on TikTok or Instagram"
		return nil
	}
	at := slices.IndexFunc(a, head)
	if at < 0 || len(a) == 1 || slices.ContainsFunc(b, func(c Condition) bool { return head(c) && (!one.or || c.Field == a[at].Field) }) {
		return nil
	}
	if !one.or {
		return []string{"a thing of one of several"}
	}
	one.found = append([]Condition{a[at]}, b...)
	return nil
}

// simplify says "require" where a check drops what is not something.
func simplify(checks []Check) []Check {
	for i := range checks {
		check := &checks[i]
		if len(check.Conditions) == 1 && check.Conditions[0].Not {
			check.Conditions[0].Not = false
			check.Effect = map[Effect]Effect{Drop: Require, Require: Drop}[check.Effect]
		}
	}
	return checks
}

// not makes the checks of "skip X that do not …".
func (r *reading) not(list, turned []node) (checks []Check, lost []string) {
	var before []Condition
	for _, p := range r.context(never).parts(list) {
		before, lost = append(before, p.found...), append(lost, p.lost...)
	}
	x := r.context(never)
	_, x.in, _ = r.subject(list)
	x.strict = true
	parts := x.parts(turned)
	wanted, missed := merge(parts)
	missed = append(missed, mixed(parts)...)
	if lost = append(lost, missed...); len(lost) > 0 {
		return nil, lost
	}
	return lacking(before, wanted), nil
}

// mixed are parts that are not all names or all numbers: "if not English or under 10k views"
// may negate the first alone.
func mixed(parts []part) (lost []string) {
	if len(parts) > 1 && slices.ContainsFunc(parts[1:], func(p part) bool { return p.numbers() != parts[0].numbers() }) {
		return []string{"not one or not both"}
	}
	return nil
}

// lacking drops what a subject has without what is wanted of it.
func lacking(subject, wanted []Condition) (checks []Check) {
	for _, condition := range wanted {
		condition.Not = !condition.Not
		checks = append(checks, Check{Effect: Drop, Conditions: append(slices.Clone(subject), condition)})
	}
	return simplify(checks)
}

// subject reads what is before "must": conditions, or the part of the text that is meant.
func (r *reading) subject(list []node) (found []Condition, in facts.Part, lost []string) {
	parts := r.context(must).parts(list)
	if found, lost = merge(parts); len(parts) > 1 && len(found) > 1 {
		lost = append(lost, "both") // "recipes and German videos must …"
	}
	for _, n := range list {
		for _, c := range n.cells {
			if c.class == 'H' {
				in = c.part
			}
		}
	}
	return found, in, lost
}

// mustNot makes the checks of "X must not …".
func (r *reading) mustNot(list, body []node) (checks []Check, lost []string) {
	subject, in, lost := r.subject(list)
	x := r.context(never)
	x.in, x.saying = in, in != ""
	checks, missed := r.refuse(x, body, false)
	for i := range checks {
		if len(subject) > 0 && checks[i].Effect == Require {
			return nil, append(lost, "not what is not")
		}
		checks[i].Conditions = append(slices.Clone(subject), checks[i].Conditions...)
	}
	return checks, append(lost, missed...)
}

// require makes the checks of "only …", or of "YouTube videos must …".
func (r *reading) require(list, body []node) (checks []Check, lost []string) {
	subject, in, lost := r.subject(list)
	x := r.context(must)
	x.in = in
	parts := x.parts(body)
	either, ok := alternatives(parts)
	switch {
	case either != nil && len(subject) == 0:
		return either, lost
	case either != nil || !ok:
		return nil, append(lost, "or between different things")
	case len(perPlatform(parts)) > 0: // "only creators with 10k subs on YouTube": and on others?
		return nil, append(lost, "a number on one platform")
	}
	conditions, missed := merge(parts)
	lost = append(lost, missed...)
	for i, p := range parts { // "only English videos and videos by @foo"
		if p.and && p.noun && i > 0 && len(p.found) > 0 && len(parts[i-1].found) > 0 && !sameWords(p.found[0].Field, parts[i-1].found[0].Field) {
			lost = append(lost, "both")
		}
	}
	platform := func(c Condition) bool { return c.Field == Platform }
	if slices.ContainsFunc(subject, platform) && slices.ContainsFunc(conditions, platform) {
		return nil, append(lost, "a platform of a platform") // "from Instagram only Reels"
	}
	if len(subject) > 0 {
		return lacking(subject, conditions), lost
	}
	for _, condition := range conditions {
		checks = append(checks, Check{Effect: Require, Conditions: []Condition{condition}})
	}
	return simplify(checks), lost
}

// wish makes the checks of "find …", "prefer …", and of clauses without a verb.
// Numbers bind; words and hashtags only raise the rank, and so does all of a
// "prefer" and what a prompt says of platforms, languages and creators.
func (r *reading) wish(m mode, list []node) (checks []Check, lost []string) {
	parts := r.context(m).parts(list)
	binds := func(c Condition) bool { return m != soft && c.binds(r.prompt) }
	if m != soft {
		checks = perPlatform(parts)
		if either, ok := alternatives(parts); len(checks) == 0 && either != nil && slices.ContainsFunc(either[0].Conditions, binds) {
			return either, nil
		} else if !ok || len(checks) > 0 && slices.ContainsFunc(parts, func(p part) bool { return p.or }) && slices.ContainsFunc(parts, func(p part) bool { return len(p.found) > 0 }) {
			return nil, []string{"or between different things"} // "5k views or 500 likes on TikTok"
		}
	}
	conditions, lost := merge(parts)
	bound := len(checks) > 0 || slices.ContainsFunc(conditions, binds)
	for _, condition := range conditions {
		switch {
		case binds(condition):
			checks = append(checks, Check{Effect: Require, Conditions: []Condition{condition}})
		case m == plain && condition.Field == Text && r.prompt:
			// the ranking looks for the prompt's words anyway
		case m == plain && condition.Field == Text && !bound:
			lost = append(lost, strings.Join(condition.Values, ", "))
		default:
			checks = append(checks, Check{Effect: Prefer, Conditions: []Condition{condition}})
		}
	}
	return simplify(checks), lost
}

// binds reports conditions that a wish insists on.
func (c Condition) binds(prompt bool) bool {
	switch c.Field {
	case Text, Hashtag, Creator, Kind, Sound:
		return c.Not
	case Platform, Language:
		return !prompt || c.Not
	}
	return true
}

// perPlatform makes the checks of "at least 1k views on TikTok", which asks nothing
// of other platforms, and takes them out of their parts.
func perPlatform(parts []part) (checks []Check) {
	for i := range parts {
		at := slices.IndexFunc(parts[i].found, func(c Condition) bool { return c.Field == Platform })
		if !parts[i].on || at < 0 || !parts[i].numbers() {
			continue
		}
		platform := parts[i].found[at]
		var rest []Condition
		for j, c := range parts[i].found {
			switch {
			case j == at:
			case c.numeric():
				checks = append(checks, lacking([]Condition{platform}, []Condition{c})...)
			default:
				rest = append(rest, c)
			}
		}
		parts[i].found = rest
	}
	return checks
}

// merge joins the values of one field over the parts of a clause.
func merge(parts []part) (conditions []Condition, lost []string) {
	all := slices.ContainsFunc(parts, func(p part) bool { return p.both })
	for i, one := range parts {
		lost = append(lost, one.lost...)
		others, own := 0, len(conditions)
		for _, condition := range one.found {
			at := slices.IndexFunc(conditions, func(had Condition) bool {
				return !condition.numeric() && !had.numeric() && had.Not == condition.Not && sameWords(had.Field, condition.Field)
			})
			if at < 0 {
				condition.Values, condition.All = slices.Clone(condition.Values), all
				conditions = append(conditions, condition)
				continue
			}
			if condition.Field == Language && one.named && slices.ContainsFunc(parts[:i], func(p part) bool { return p.named }) {
				lost = append(lost, "two languages") // "speech in English, captions in German"
			}
			if at >= own {
				lost = append(lost, "which of which") // `only "cold brew" recipes`: must both be there?
			}
			had := &conditions[at]
			values := condition.Values
			if had.Field != condition.Field {
				had.Values, values = tagged(*had), tagged(condition)
				had.Field = Text
			}
			if len(values) > 0 && !slices.Contains(had.Values, values[0]) {
				others++
			}
			if had.Values = append(had.Values, values...); others == 2 {
				lost = append(lost, "which of which") // "English TikToks and German Reels"
			}
		}
	}
	for i := range conditions {
		a := &conditions[i]
		a.All = a.All && len(a.Values) > 1 && sameWords(a.Field, Text)  // a video is on one platform
		if slices.ContainsFunc(conditions[:i], func(b Condition) bool { // "TikTok at least 10k, Reels at least 5k"
			return a.numeric() && a.Field == b.Field && a.In == b.In && a.Op == b.Op && (a.Number != b.Number || a.At != b.At)
		}) {
			lost = append(lost, "two bounds of one count")
		}
	}
	return conditions, lost
}

func sameWords(a, b Field) bool {
	word := func(f Field) bool { return f == Text || f == Hashtag }
	return a == b || word(a) && word(b)
}

// tagged are the values as Text has them.
func tagged(c Condition) []string {
	if c.Field == Text {
		return c.Values
	}
	return mapped(c.Values, func(tag string) string { return "#" + tag })
}

// alternatives makes one check of "over 10k views or 500 likes". It has none where the parts
// are no alternatives of different fields, and is not ok where it cannot be said which are.
func alternatives(parts []part) (checks []Check, ok bool) {
	differ := false
	for i := 1; i < len(parts); i++ {
		if !parts[i].or {
			continue
		}
		for _, a := range parts[i-1].found {
			for _, b := range parts[i].found {
				differ = differ || !sameWords(a.Field, b.Field) || a.numeric() && a.Op[:1] != b.Op[:1]
			}
		}
	}
	if !differ {
		return nil, true
	}
	if len(parts) != 2 || len(parts[0].found) != 1 || len(parts[1].found) != 1 || len(parts[0].lost)+len(parts[1].lost) > 0 {
		return nil, false
	}
	return []Check{{Effect: Require, Any: true, Conditions: []Condition{parts[0].found[0], parts[1].found[0]}}}, true
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
		if c.Effect == Require { // of several that are enough, all must fail to drop
			for j := range c.Conditions {
				c.Conditions[j].Not = !c.Conditions[j].Not
			}
			c.Effect, c.Any = Drop, false
		}
		c.Conditions = append([]Condition{*on}, c.Conditions...)
	}
	return checks
}
