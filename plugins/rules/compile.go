package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Program is a ruleset and a prompt as checks.
type Program struct {
	// Checks in the order of the rules, the prompt's last.
	Checks []Check
	// Unclear are the rule items, or parts of them, that no check could be made of.
	Unclear []string
	// Open are the items that a model decides better: those that are unclear, and
	// those of which the checks only compare words.
	Open []openItem

	groups []group
	query  []term
	// inQuery are the places of the query's terms by their stem.
	inQuery map[string]int
}

// openItem is a rule, or the part of one, that no exact check decides.
type openItem struct {
	stage.Rule
	// undecided is the part, where the rest is decided.
	undecided string
}

// PromptItem names the prompt where it drops a record.
const PromptItem = "prompt"

// Compile reads the rules and the prompt. Rules that allow values of the same
// field are met by any of these: two "only from @…" allow both. The prompt's
// allowances are beside the rules', not among them.
func Compile(run stage.Run) *Program {
	c := &compiler{lexicon: english(), now: time.UnixMilli(run.Now).UTC()}
	brief := map[string]bool{}
	for _, t := range c.terms(stage.Run{Brief: run.Brief}) {
		brief[t.stem] = true
	}
	c.known = func(stem string) bool { return brief[stem] }
	p := &Program{}
	for _, rule := range run.Rules {
		checks, lost, partly := c.item(rule.Text, rule, false)
		p.Checks = append(p.Checks, checks...)
		worded := slices.ContainsFunc(checks, func(c Check) bool { return c.Effect != Prefer && !c.exact() })
		switch {
		case worded || len(lost) > 0 && len(checks) == 0:
			p.Open = append(p.Open, openItem{Rule: rule})
		case len(lost) > 0:
			p.Open = append(p.Open, openItem{rule, strings.Join(lost, "; ")})
		}
		if len(lost) > 0 {
			p.Unclear = append(p.Unclear, unclear(rule.Text, lost, partly))
		}
	}
	p.groups = grouped(p.Checks)
	if run.Prompt != "" {
		checks, _, _ := c.item(run.Prompt, stage.Rule{Text: PromptItem}, true)
		p.Checks = append(p.Checks, checks...)
		p.groups = append(p.groups, grouped(checks)...)
	}
	p.query = c.terms(run)
	p.inQuery = make(map[string]int, len(p.query))
	for i, t := range p.query {
		p.inQuery[t.stem] = i
	}
	return p
}

// readings are the rules with their checks in words, but for those that others judge.
func (p *Program) readings(but []openItem) (all []stage.Reading) {
	for _, check := range p.Checks {
		if check.Item == PromptItem && check.ID == "" || slices.ContainsFunc(but, func(o openItem) bool { return o.Text == check.Item }) {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].Rule == check.Item {
			all[last].Text += "; " + check.Sentence()
			continue
		}
		all = append(all, stage.Reading{Rule: check.Item, Text: check.Sentence()})
	}
	return all
}

// unclear is the item, with the part that was not understood where only a part was not. All
// of it drops nothing.
func unclear(item string, lost []string, partly bool) string {
	if !partly {
		return item
	}
	return item + " (not understood: " + strings.Join(lost, "; ") + ")"
}

type compiler struct {
	*lexicon
	now time.Time
	// known reports stems of the brief's words.
	known func(stem string) bool
}

func (c *compiler) parser(m mode) *parser {
	return &parser{lexicon: c.lexicon, now: c.now, mode: m, known: c.known}
}

// item makes checks of one rule; lost are the parts without one, and partly says that there
// are others.
func (c *compiler) item(text string, name stage.Rule, prompt bool) (checks []Check, lost []string, partly bool) {
	if tokens := lex(text); c.foreign(tokens) {
		return nil, []string{text}, false
	}
	tokens := c.spelled(lex(text))
	for len(tokens) > 0 && (tokens[0].kind == mark && strings.Contains("-*•·‣◦", tokens[0].text) || tokens[0].kind == number && len(tokens) > 1 && tokens[1].kind == mark && strings.Contains(".)", tokens[1].text)) {
		tokens = tokens[1:] // a bullet or the number of a line
	}
	for _, sentence := range sentences(c.plainly(tokens), text) {
		on, rest := c.scope(sentence)
		for _, clause := range c.clauses(rest) {
			made, missed := c.clause(clause, prompt)
			if len(made)+len(missed) == 0 {
				missed = []string{said(text, clause)}
			}
			checks = append(checks, within(on, made)...)
			lost = append(lost, missed...)
		}
	}
	if len(checks)+len(lost) == 0 {
		lost = []string{text}
	}
	partly = len(checks) > 0
	if len(lost) > 0 && !prompt { // a rule that is half understood would drop what it should keep
		checks = slices.DeleteFunc(checks, func(c Check) bool { return c.Effect != Prefer })
	}
	for i := range checks {
		checks[i].Item, checks[i].ID = name.Text, name.ID
		checks[i].Conditions = mapped(checks[i].Conditions, Condition.prepared)
		checks[i].Unless = mapped(checks[i].Unless, Condition.prepared)
	}
	return checks, lost, partly
}

// said is the clause's own words.
func said(text string, c *clause) string {
	from, to := len(text), 0
	for _, tokens := range [][]token{c.subject, c.body, c.unless} {
		for _, t := range tokens {
			if t.to > 0 {
				from, to = min(from, t.from), max(to, t.to)
			}
		}
	}
	if from >= to {
		return strings.TrimSpace(text)
	}
	return text[from:to]
}

func (c *compiler) clause(cl *clause, prompt bool) (checks []Check, lost []string) {
	if cl.lost {
		return nil, nil
	}
	p := c.parser(cl.mode)
	p.all = cl.all
	var exceptions []Condition
	if len(cl.unless) > 0 {
		exception := c.parser(must)
		exception.saying = true // it can only keep more
		for _, part := range exception.parts(cl.unless) {
			exceptions = append(exceptions, part.conditions...)
			lost = append(lost, part.lost...)
		}
		if len(lost) > 0 {
			return nil, lost // without its exception a rule would drop too much
		}
	}
	switch cl.mode {
	case never:
		checks, lost = c.drops(p, cl)
	case must:
		checks, lost = c.requires(p, cl)
	default:
		checks, lost = c.wishes(p, cl, prompt)
	}
	for i := range checks {
		checks[i].Unless = exceptions
	}
	return checks, lost
}

// drops makes the checks of "no …".
func (c *compiler) drops(p *parser, cl *clause) (checks []Check, lost []string) {
	body, turned := cl.body, []token(nil)
	if cl.flip >= 0 && cl.flip <= len(body) {
		body, turned = body[:cl.flip], body[cl.flip:]
	}
	var before []Condition
	parts := p.parts(body)
	for i, part := range parts {
		for _, next := range parts[i+1:] { // "TikToks and Reels under 1k views": is the bound of both?
			if len(part.conditions) == 1 && slices.ContainsFunc(next.conditions, Condition.numeric) && slices.ContainsFunc(next.conditions, func(c Condition) bool {
				return !c.numeric() && sameWords(c.Field, part.conditions[0].Field)
			}) {
				lost = append(lost, "a bound of one of several")
			}
		}
		lost = append(lost, part.lost...)
		if i > 0 {
			lost = append(lost, sharing(parts[i-1], &part, cl.body)...)
			parts[i] = part
		}
		if turned != nil {
			before = append(before, part.conditions...)
			continue
		}
		if p.all && slices.ContainsFunc(part.conditions, func(c Condition) bool { return c.numeric() || c.Field == Text }) {
			lost = append(lost, "both") // of a video that has both, or of each that has one?
		}
		if len(part.conditions) > 0 && len(part.lost) == 0 {
			checks = append(checks, Check{Effect: Drop, Conditions: part.conditions})
		}
	}
	if turned == nil {
		return simplify(checks), lost
	}
	p.strict = true
	wanted, missed := merge(p.parts(turned), p.all)
	if lost = append(lost, missed...); len(lost) > 0 {
		return nil, lost
	}
	for _, condition := range wanted {
		if len(before) == 0 {
			checks = append(checks, Check{Effect: Require, Conditions: []Condition{condition}})
			continue
		}
		condition.Not = !condition.Not
		checks = append(checks, Check{Effect: Drop, Conditions: append(slices.Clone(before), condition)})
	}
	return simplify(checks), nil
}

// sharing gives a part what those before it are about, where it is their kind of thing:
// "no TikToks about crypto or politics". It is lost where that cannot be said.
func sharing(before part, one *part, body []token) (lost []string) {
	if len(before.conditions) == 0 || len(one.conditions) == 0 || one.noun {
		return nil
	}
	head := func(c Condition) bool {
		return c.Field == Platform || c.Field == Language || c.Field == Creator || c.Field == Kind
	}
	relative := slices.ContainsFunc(body, func(t token) bool { return t.kind == word && english().in("relative", t.text) })
	a, b := before.conditions, one.conditions
	if relative && one.and && slices.ContainsFunc(a, Condition.numeric) && slices.ContainsFunc(b, Condition.numeric) && a[0].Field != b[0].Field {
		return []string{"both"} // "skip it if it is over 2 minutes and has under 100 likes"
	}
	at := slices.IndexFunc(a, head)
	if at < 0 || len(a) == 1 || slices.ContainsFunc(b, head) {
		return nil
	}
	if !one.or {
		return []string{"a thing of one of several"}
	}
	one.conditions = append([]Condition{a[at]}, b...)
	return nil
}

// simplify says "require" where a check drops what is not something.
func simplify(checks []Check) []Check {
	for i := range checks {
		check := &checks[i]
		if len(check.Conditions) == 1 && check.Conditions[0].Not {
			check.Conditions[0].Not = false
			switch check.Effect {
			case Drop:
				check.Effect = Require
			case Require:
				check.Effect = Drop
			}
		}
	}
	return checks
}

// requires makes the checks of "only …", or of "YouTube videos must …".
func (c *compiler) requires(p *parser, cl *clause) (checks []Check, lost []string) {
	var subject []Condition
	for i := range cl.subject {
		if _, ok := p.fieldAt(cl.subject, i); ok { // "views must be over 10k"
			cl.body, cl.subject = append(cl.subject, cl.body...), nil
			break
		}
	}
	if in := c.whole(cl.subject); in != "" { // "the hook must be …"
		p.inPart, cl.subject = in, nil
	}
	if len(cl.subject) > 0 {
		about := c.parser(must)
		for _, part := range about.parts(cl.subject) {
			subject = append(subject, part.conditions...)
			lost = append(lost, part.lost...)
		}
	}
	parts := p.parts(cl.body)
	either, ok := alternatives(parts)
	switch {
	case either != nil && len(subject) == 0 && len(cl.subject) == 0:
		return either, lost
	case either != nil || !ok:
		return nil, append(lost, "or between different things")
	}
	if checks := perPlatform(parts); len(checks) > 0 { // "only creators with 10k subs on YouTube": and on others?
		return nil, append(lost, "a number on one platform")
	}
	conditions, missed := merge(parts, p.all)
	lost = append(lost, missed...)
	if len(subject) == 0 && len(cl.subject) > 0 && c.content(cl.subject) {
		return nil, lost
	}
	for _, condition := range conditions {
		if slices.ContainsFunc(subject, func(c Condition) bool { return c.Field == Platform && condition.Field == Platform }) {
			return nil, append(lost, "a platform of a platform") // "from Instagram only Reels"
		}
		check := Check{Effect: Require, Conditions: []Condition{condition}}
		if len(subject) > 0 {
			condition.Not = !condition.Not
			check = Check{Effect: Drop, Conditions: append(slices.Clone(subject), condition)}
		}
		checks = append(checks, check)
	}
	return simplify(checks), lost
}

// wishes makes the checks of "find …", "prefer …", and of clauses without a verb.
// Numbers bind; words and hashtags only raise the rank, and so does all of a
// "prefer" and what a prompt says of platforms, languages and creators.
func (c *compiler) wishes(p *parser, cl *clause, prompt bool) (checks []Check, lost []string) {
	if cl.mode == plain && conditional(cl.body) && !prompt {
		return nil, []string{"what then"} // "when it is in English, show it"
	}
	parts := p.parts(cl.body)
	if cl.mode != soft {
		checks = perPlatform(parts)
		if either, ok := alternatives(parts); len(checks) == 0 && either != nil {
			return either, nil
		} else if !ok {
			return nil, []string{"or between different things"}
		}
	}
	conditions, lost := merge(parts, p.all)
	bound := len(checks) > 0
	for _, condition := range conditions {
		bound = bound || cl.mode != soft && binds(condition, prompt)
	}
	for _, condition := range conditions {
		switch {
		case cl.mode != soft && !condition.numeric() && slices.ContainsFunc(cl.body, func(t token) bool { return t.text == "too" || t.text == "also" }):
			lost = append(lost, "too") // it allows, and asks for nothing
		case cl.mode != soft && binds(condition, prompt):
			checks = append(checks, Check{Effect: Require, Conditions: []Condition{condition}})
		case cl.mode == plain && condition.Field == Text && prompt:
			// the ranking looks for the prompt's words anyway
		case cl.mode == plain && condition.Field == Text && !bound:
			lost = append(lost, strings.Join(condition.Values, ", "))
		default:
			checks = append(checks, Check{Effect: Prefer, Conditions: []Condition{condition}})
		}
	}
	return simplify(checks), lost
}

// perPlatform makes the checks of "at least 1k views on TikTok", which asks nothing
// of other platforms, and takes them out of their parts.
func perPlatform(parts []part) (checks []Check) {
	for i := range parts {
		if !parts[i].on {
			continue
		}
		at := slices.IndexFunc(parts[i].conditions, func(c Condition) bool { return c.Field == Platform })
		if at < 0 || !slices.ContainsFunc(parts[i].conditions, Condition.numeric) {
			continue
		}
		platform := parts[i].conditions[at]
		var rest []Condition
		for j, c := range parts[i].conditions {
			switch {
			case j == at:
			case c.numeric():
				c.Not = !c.Not
				checks = append(checks, Check{Effect: Drop, Conditions: []Condition{platform, c}})
			default:
				rest = append(rest, c)
			}
		}
		parts[i].conditions = rest
	}
	return checks
}

func binds(c Condition, prompt bool) bool {
	switch c.Field {
	case Text, Hashtag, Creator, Kind, Sound:
		return c.Not
	case Platform, Language:
		return !prompt || c.Not
	}
	return true
}

// merge joins the values of one field over the parts of a clause.
func merge(parts []part, all bool) (conditions []Condition, lost []string) {
	for i, one := range parts {
		lost = append(lost, one.lost...)
		for _, condition := range one.conditions {
			at := slices.IndexFunc(conditions, func(had Condition) bool {
				return !condition.numeric() && !had.numeric() && had.Not == condition.Not && sameWords(had.Field, condition.Field)
			})
			if at < 0 {
				condition.Values = slices.Clone(condition.Values)
				condition.All = all && len(parts) > 1
				conditions = append(conditions, condition)
				continue
			}
			if condition.Field == Language && one.named && slices.ContainsFunc(parts[:i], func(p part) bool { return p.named }) {
				lost = append(lost, "two languages") // "speech in English, captions in German"
			}
			had := &conditions[at]
			values := condition.Values
			if had.Field != condition.Field {
				had.Values, values = tagged(*had), tagged(condition)
				had.Field = Text
			}
			had.Values = append(had.Values, values...)
		}
	}
	for i, a := range conditions { // "TikTok at least 10k, Reels at least 5k"
		if slices.ContainsFunc(conditions[:i], func(b Condition) bool {
			return a.numeric() && a.Field == b.Field && a.In == b.In && a.Op == b.Op && a.Number != b.Number
		}) {
			lost = append(lost, "two bounds of one count")
		}
	}
	for i := range conditions {
		conditions[i].All = conditions[i].All && len(conditions[i].Values) > 1
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
	out := make([]string, len(c.Values))
	for i, value := range c.Values {
		out[i] = "#" + value
	}
	return out
}

// whole is the part of the text that the tokens name, if they name nothing else.
func (l *lexicon) whole(tokens []token) (of Part) {
	for i := 0; i < len(tokens); {
		found, next := l.partAt(tokens, i)
		switch {
		case found != "":
			of, i = found, next
		case l.meaningful(tokens[i]):
			return ""
		default:
			i++
		}
	}
	return of
}

// alternatives makes one check of "over 10k views or 500 likes". It has none where the parts
// are no alternatives of different fields, and is not ok where it cannot be said which are.
func alternatives(parts []part) (checks []Check, ok bool) {
	differ := false
	for i := 1; i < len(parts); i++ {
		if !parts[i].or {
			continue
		}
		for _, a := range parts[i-1].conditions {
			for _, b := range parts[i].conditions {
				differ = differ || !sameWords(a.Field, b.Field) || a.numeric() && a.Op[0] != b.Op[0]
			}
		}
	}
	if !differ {
		return nil, true
	}
	if len(parts) != 2 || len(parts[0].conditions) != 1 || len(parts[1].conditions) != 1 || len(parts[0].lost)+len(parts[1].lost) > 0 {
		return nil, false
	}
	return []Check{{Effect: Require, Any: true, Conditions: []Condition{parts[0].conditions[0], parts[1].conditions[0]}}}, true
}
