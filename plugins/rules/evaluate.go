package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/words"
	"github.com/scrollery/scrollery/plugins/stage"
)

// answer is what is known of a condition.
type answer int

const (
	unknown answer = iota
	no
	yes
)

func truth(b bool) answer {
	if b {
		return yes
	}
	return no
}

// holds looks a condition up.
func (c Condition) holds(f *facts) answer {
	a := c.ask(f)
	if c.Not && a != unknown {
		return yes + no - a
	}
	return a
}

func (c Condition) ask(f *facts) answer {
	switch c.Field {
	case Platform:
		return truth(slices.Contains(c.Values, f.platform))
	case Creator:
		if f.creator == "" {
			return unknown
		}
		return truth(slices.Contains(c.Values, f.creator))
	case Kind:
		if f.kind == "" {
			return unknown
		}
		return truth(slices.Contains(c.Values, f.kind))
	case Language:
		return spoken(f.languagesOf(), c.Values)
	case Text, Hashtag, Sound:
		return c.words(f)
	case Question:
		return f.asks()
	}
	return c.number(f)
}

func (c Condition) words(f *facts) answer {
	if c.In != "" {
		f = f.part(c.In)
	}
	if f == nil || !f.known {
		return unknown
	}
	found := 0
	for _, value := range c.Values {
		switch {
		case c.Field == Sound:
			if f.sound == "" {
				return unknown
			}
			if strings.Contains(f.sound, value) {
				found++
			}
		case c.Field == Hashtag:
			if f.tags[value] {
				found++
			}
		case strings.HasPrefix(value, "#"):
			if f.tags[value[1:]] {
				found++
			}
		case c.said(f, value) != "":
			found++
		}
	}
	if c.All {
		return truth(found == len(c.Values))
	}
	return truth(found > 0)
}

// said is how the text has a value, or what the value is about; empty if it has not.
func (c Condition) said(f *facts, value string) string {
	forms := c.forms[value]
	if forms == nil {
		forms = formsOf(value)
	}
	for _, form := range forms {
		if f.Mentions(form) {
			return form.Said
		}
	}
	return ""
}

// formsOf are a value of a Text condition and what else its subject is called.
func formsOf(value string) []words.Phrase {
	all := []words.Phrase{words.PhraseOf(value)}
	for _, other := range english().meanings[words.Stems(value)] {
		if other != value {
			all = append(all, words.Literal(other))
		}
	}
	return all
}

// prepared is the condition with the forms of its values worked out.
func (c Condition) prepared() Condition {
	if c.Field != Text {
		return c
	}
	c.forms = make(map[string][]words.Phrase, len(c.Values))
	for _, value := range c.Values {
		if !strings.HasPrefix(value, "#") {
			c.forms[value] = formsOf(value)
		}
	}
	return c
}

// counts are the fields of metrics.
var counts = map[Field]func(m *stage.Metrics) *int64{
	Views: func(m *stage.Metrics) *int64 { return m.Views }, Likes: func(m *stage.Metrics) *int64 { return m.Likes },
	Comments: func(m *stage.Metrics) *int64 { return m.Comments }, Shares: func(m *stage.Metrics) *int64 { return m.Shares },
	Saves: func(m *stage.Metrics) *int64 { return m.Saves }, Followers: func(m *stage.Metrics) *int64 { return m.Followers },
}

func (c Condition) number(f *facts) answer {
	value, known := 0.0, false
	switch count := counts[c.Field]; {
	case count != nil:
		if n := count(&f.metrics); n != nil {
			value, known = float64(*n), true
		}
	case c.Field == Words || c.Field == Characters:
		value, known = f.size(c.Field, c.In)
	case c.Field == Duration:
		value, known = f.duration, f.duration > 0
	case c.Field == Engagement || c.Field == LikeRate:
		value, known = f.rate(c.Field == LikeRate)
	case c.Field == Age || c.Field == Posted:
		return c.when(f)
	}
	if !known {
		return unknown
	}
	return truth(compared(value, c.Op, c.Number))
}

// when compares times: an age is the time of the run less so many units.
func (c Condition) when(f *facts) answer {
	if f.posted == nil {
		return unknown
	}
	at := time.UnixMilli(*f.posted).UTC()
	if c.Field == Posted {
		return truth(compared(float64(at.Sub(c.At)), c.Op, 0))
	}
	// Older means posted before the limit: the comparison turns round.
	return truth(compared(float64(c.limit(f.now).Sub(at)), c.Op, 0))
}

// limit is the time at which a video of just this age was posted.
func (c Condition) limit(now time.Time) time.Time {
	n := min(c.Number, 1e5)
	switch whole := int(n); {
	case c.Unit == "months" && float64(whole) == n:
		return now.AddDate(0, -whole, 0)
	case c.Unit == "years" && float64(whole) == n:
		return now.AddDate(-min(whole, 1000), 0, 0)
	}
	hours := map[string]float64{"hours": 1, "days": 24, "weeks": 7 * 24, "months": 30.4 * 24, "years": 365.25 * 24}[c.Unit]
	return now.Add(-time.Duration(n * hours * float64(time.Hour)))
}

func compared(value float64, op string, bound float64) bool {
	switch op {
	case "<":
		return value < bound
	case "<=":
		return value <= bound
	case ">":
		return value > bound
	}
	return value >= bound
}

// group is a set of checks of which one is enough: allowances of the same field.
type group struct {
	checks []Check
}

// grouped puts allowances of the same field together.
func grouped(checks []Check) []group {
	var groups []group
	at := map[Field]int{}
	for _, check := range checks {
		if check.Effect == Require && !check.Any && !check.Conditions[0].numeric() {
			field := check.Conditions[0].Field
			if i, ok := at[field]; ok {
				groups[i].checks = append(groups[i].checks, check)
				continue
			}
			at[field] = len(groups)
		}
		groups = append(groups, group{[]Check{check}})
	}
	return groups
}

// drops gives the check that drops the record, if one does. What a model said of
// an item replaces its checks that are not exact.
func (g group) drops(f *facts, said opinion) *Check {
	for i := range g.checks {
		check := &g.checks[i]
		broken, judged := said[check.Item]
		if !judged || check.exact() {
			broken = check.drops(f)
		}
		if !broken {
			return nil
		}
	}
	return &g.checks[0]
}

// settled reports records that exact checks drop, so that the model is not asked.
func (p *Program) settled(f *facts) bool {
	return slices.ContainsFunc(p.groups, func(g group) bool {
		return !slices.ContainsFunc(g.checks, func(c Check) bool { return !c.exact() }) && g.drops(f, nil) != nil
	})
}

func (c *Check) drops(f *facts) bool {
	switch c.Effect {
	case Require:
		if slices.ContainsFunc(c.Conditions, func(c Condition) bool { return c.holds(f) != no }) {
			return false
		}
	case Drop:
		for _, condition := range c.Conditions {
			if condition.holds(f) != yes {
				return false
			}
		}
	default:
		return false
	}
	for _, exception := range c.Unless {
		if exception.holds(f) != no {
			return false // an exception that is unclear keeps
		}
	}
	return true
}
