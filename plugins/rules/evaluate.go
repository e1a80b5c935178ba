package rules

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/facts"
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
func (c Condition) holds(f *facts.Facts) answer {
	a := c.ask(f)
	if c.Not && a != unknown {
		return yes + no - a
	}
	return a
}

func (c Condition) ask(f *facts.Facts) answer {
	name := ""
	switch c.Field {
	case Platform:
		name = f.Platform
	case Creator:
		name = f.Creator
	case Kind:
		name = f.Kind
	case Language:
		return spoken(f.Languages(), c.Values)
	case Text, Hashtag, Sound:
		return c.words(f)
	case Question:
		if asks, known := f.Asks(); known {
			return truth(asks)
		}
		return unknown
	default:
		return c.number(f)
	}
	if name == "" {
		return unknown
	}
	return truth(slices.Contains(c.Values, name))
}

func (c Condition) words(f *facts.Facts) answer {
	if c.In != "" {
		f = f.Part(c.In)
	}
	if f == nil || !f.Known {
		return unknown
	}
	found := 0
	for _, value := range c.Values {
		switch {
		case c.Field == Sound:
			if f.Sound == "" {
				return unknown
			}
			if strings.Contains(f.Sound, value) {
				found++
			}
		case c.Field == Hashtag:
			if f.Tags[value] {
				found++
			}
		case strings.HasPrefix(value, "#"):
			if f.Tags[value[1:]] {
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
func (c Condition) said(f *facts.Facts, value string) string {
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

func (c Condition) number(f *facts.Facts) answer {
	value, known := 0.0, false
	switch count := counts[c.Field]; {
	case count != nil:
		if n := count(&f.Metrics); n != nil {
			value, known = float64(*n), true
		}
	case c.Field == Words || c.Field == Characters:
		value, known = c.size(f)
	case c.Field == Duration:
		value, known = f.Duration, f.Duration > 0
	case c.Field == Engagement || c.Field == LikeRate:
		value, known = f.Rate(c.Field == LikeRate)
	case c.Field == Age || c.Field == Posted:
		return c.when(f)
	}
	if !known {
		return unknown
	}
	return truth(compared(value, c.Op, c.Number))
}

// size counts the words of a part, of the hook if none is named, or its characters, of the
// caption if none is named.
func (c Condition) size(f *facts.Facts) (n float64, known bool) {
	text, known := f.Parts[c.part()]
	if c.Field == Words {
		return float64(len(strings.Fields(text))), known
	}
	return float64(utf8.RuneCountInString(text)), known
}

// when compares times: an age is the time of the run less so many units.
func (c Condition) when(f *facts.Facts) answer {
	if f.Posted == nil {
		return unknown
	}
	at := time.UnixMilli(*f.Posted).UTC()
	if c.Field == Posted {
		return truth(compared(float64(at.Sub(c.At)), c.Op, 0))
	}
	// Older means posted before the limit: the comparison turns round.
	return truth(compared(float64(c.limit(f.Now).Sub(at)), c.Op, 0))
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
type group []Check

// grouped puts allowances of the same field together.
func grouped(checks []Check) []group {
	var groups []group
	at := map[Field]int{}
	for _, check := range checks {
		if check.Effect == Require && !check.Any && !check.Conditions[0].numeric() {
			field := check.Conditions[0].Field
			if i, ok := at[field]; ok {
				groups[i] = append(groups[i], check)
				continue
			}
			at[field] = len(groups)
		}
		groups = append(groups, group{check})
	}
	return groups
}

// drops gives the check that drops the record, if one does. What a model said of
// an item replaces its checks that are not exact.
func (g group) drops(f *facts.Facts, said opinion) *Check {
	for i := range g {
		check := &g[i]
		broken, judged := said[check.Item]
		if !judged || check.exact() {
			broken = check.drops(f)
		}
		if !broken {
			return nil
		}
	}
	return &g[0]
}

// settled reports records that exact checks drop, so that the model is not asked.
func (p *Program) settled(f *facts.Facts) bool {
	return slices.ContainsFunc(p.groups, func(g group) bool {
		return !slices.ContainsFunc(g, func(c Check) bool { return !c.exact() }) && g.drops(f, nil) != nil
	})
}

func (c *Check) drops(f *facts.Facts) bool {
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
