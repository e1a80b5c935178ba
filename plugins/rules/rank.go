package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/words"
	"github.com/scrollery/scrollery/plugins/stage"
)

// term is a word of the prompt or the brief, as texts are searched for it.
type term struct {
	stem, word string
	weight     float64
}

// mostTerms bounds the query: the first words of a brief say what it is about.
const mostTerms = 200

// terms are the words that say what is looked for: those of the prompt count
// three times as much as those of the brief. A long word says more than a short one.
func (c *compiler) terms(run stage.Run) []term {
	var all []term
	at := map[string]int{}
	add := func(text string, weight float64) {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), words.Apart) {
			s := words.Stem(w)
			if len([]rune(w)) < 3 || c.in("stop", w) || c.in("noise", w) || c.in("judgement", w) || c.in("stop", s) || strings.Trim(w, "0123456789") == "" {
				continue
			}
			weight := weight * min(1, float64(len([]rune(s)))/6)
			if i, ok := at[s]; ok {
				all[i].weight = max(all[i].weight, weight)
				continue
			}
			if len(all) < mostTerms {
				at[s] = len(all)
				all = append(all, term{s, w, weight})
			}
		}
	}
	add(run.Prompt, 3)
	add(run.Brief.Name, 1)
	add(run.Brief.Description, 1)
	return all
}

// opinion is what a model says of one record: for the text of each item that it was
// asked about, whether the record breaks it. Nil if it said nothing.
type opinion map[string]bool

func (p *Program) judge(ref stage.Ref, f *facts.Facts, said opinion) stage.Verdict {
	verdict := stage.Verdict{Ref: ref}
	for _, group := range p.groups {
		check := group.drops(f, said)
		if check == nil {
			continue
		}
		verdict.DroppedBy, verdict.RuleID = check.Item, check.ID
		if _, judged := said[check.Item]; judged && !check.exact() {
			verdict.Reason = p.speaker.say("by model")
		} else {
			verdict.Reason = words.Clip(p.speaker.with("dropped", p.speaker.sentence(*check))+p.speaker.otherwise(check, f), 500)
		}
		return verdict
	}
	for _, item := range p.Open {
		if said[item.Text] && !p.decidedInGroups(item) {
			verdict.DroppedBy, verdict.RuleID, verdict.Reason = item.Text, item.ID, p.speaker.say("by model")
			return verdict
		}
	}
	relevance, found := p.relevance(f)
	verdict.Rank = relevance + popularity(f)
	reason := fmt.Sprintf("relevance %.2f", relevance)
	if len(found) > 0 {
		reason += " for " + strings.Join(found, ", ")
	}
	for i := range p.Checks {
		check := &p.Checks[i]
		if check.Effect != Prefer {
			continue
		}
		if share := check.met(f); share > 0 {
			verdict.Rank += 0.5 * share
			reason += "; preferred: videos " + words.Clip(speaker{}.phrases(check.Conditions, "and"), 120)
		}
	}
	if said != nil {
		reason = "the model sees no rule broken; " + reason
	}
	verdict.Reason = words.Clip(reason, 500)
	return verdict
}

// decidedInGroups reports items of which a group has the last word: an allowance is
// no reason to drop what another of its group allows.
func (p *Program) decidedInGroups(item openItem) bool {
	for _, group := range p.groups {
		if len(group) > 1 && slices.ContainsFunc(group, func(c Check) bool { return c.Item == item.Text && !c.exact() }) {
			return true
		}
	}
	return false
}

// otherwise is what the record says where it does not use the rule's own words.
func (s speaker) otherwise(c *Check, f *facts.Facts) string {
	var words []string
	for _, condition := range c.Conditions {
		if c.Effect != Drop || condition.Field != Text || condition.Not {
			continue
		}
		for _, value := range condition.Values {
			if said := condition.said(f, value); said != "" && said != value {
				words = append(words, s.quote(said))
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	return s.with("here", strings.Join(words, ", "))
}

// met is which share of a preference a record meets: of several words, the words
// that it has.
func (c *Check) met(f *facts.Facts) float64 {
	for _, condition := range c.Conditions {
		if condition.holds(f) != yes {
			return 0
		}
	}
	if one := c.Conditions[0]; one.Field == Text && !one.Not && len(one.Values) > 1 {
		found := 0
		for _, value := range one.Values {
			if (Condition{Field: Text, Values: []string{value}, forms: one.forms}).holds(f) == yes {
				found++
			}
		}
		return math.Min(1, float64(found)/3)
	}
	return 1
}

// relevance is from 0 to 1: which weight of the query's words the record has,
// where the three heaviest words together are all that is expected. A word in a
// hashtag or the opening counts like one in the caption, a repeated one once.
func (p *Program) relevance(f *facts.Facts) (score float64, found []string) {
	if len(p.query) == 0 {
		return 0, nil
	}
	have := make([]bool, len(p.query))
	for _, w := range f.Words {
		if i, asked := p.inQuery[w]; asked {
			have[i] = true
		}
	}
	weights := make([]float64, len(p.query))
	sum := 0.0
	for i, t := range p.query {
		weights[i] = t.weight
		if have[i] || p.inTag(t.stem, f) {
			sum += t.weight
			if len(found) < 5 {
				found = append(found, t.word)
			}
		}
	}
	slices.SortFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	full := 0.0
	for _, w := range weights[:min(3, len(weights))] {
		full += w
	}
	return math.Min(1, sum/full), found
}

// inTag finds a word in a tag that runs words together: #homeespresso.
func (p *Program) inTag(stem string, f *facts.Facts) bool {
	if len(stem) < 5 {
		return false
	}
	for tag := range f.Tags {
		if len(tag) > len(stem) && strings.Contains(tag, stem) {
			return true
		}
	}
	return false
}

// popularity is below 0.05, so that it only decides between equally relevant videos.
func popularity(f *facts.Facts) float64 {
	if f.Metrics.Views == nil || *f.Metrics.Views <= 0 {
		return 0
	}
	return 0.05 * math.Min(1, math.Log10(float64(*f.Metrics.Views)+1)/11)
}
