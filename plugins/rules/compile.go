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

	speaker speaker
	groups  []group
	query   []term
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
	p := &Program{speaker: speakerOf(run.Language)}
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
			p.Unclear = append(p.Unclear, p.speaker.unclear(rule.Text, lost, partly))
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
			all[last].Text += "; " + p.speaker.sentence(check)
			continue
		}
		all = append(all, stage.Reading{Rule: check.Item, Text: p.speaker.sentence(check)})
	}
	return all
}

type compiler struct {
	*lexicon
	now time.Time
	// known reports stems of the brief's words.
	known func(stem string) bool
}

// mapped is what is made of each item.
func mapped[T, U any](items []T, do func(T) U) (out []U) {
	for _, item := range items {
		out = append(out, do(item))
	}
	return out
}
