package rules

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// Sentence is the check as a sentence for people: "keeps videos with at least 1,000 views".
// What is found by comparing words says so: the word "alcohol" is not in every video about it.
func (c Check) Sentence() string {
	phrases := func(conditions []Condition, with string) string {
		all := make([]string, len(conditions))
		for i, condition := range conditions {
			all[i] = condition.phrase()
		}
		return strings.Join(all, with)
	}
	with := " and "
	if c.Any {
		with = " or "
	}
	out := map[Effect]string{Require: "keeps only videos ", Drop: "drops videos ", Prefer: "ranks higher videos "}[c.Effect] + phrases(c.Conditions, with)
	if len(c.Unless) > 0 {
		out += ", unless they are videos " + phrases(c.Unless, " or ")
	}
	return out
}

// phrase is the condition behind "videos".
func (c Condition) phrase() string {
	not, join := "", " or "
	if c.Not {
		not = "not "
	}
	if c.All {
		join = " and "
	}
	values := strings.Join(mapped(c.Values, c.value), join)
	switch {
	case c.numeric():
		return c.numberPhrase()
	case c.Field == Question && c.Not:
		return "whose hook asks nothing"
	case c.Field == Question:
		return "whose hook is a question"
	case c.Field != Text:
		return not + wordings[c.Field].before + values
	case c.In != "" && c.Not:
		return "whose " + string(c.In) + " does not mention " + values
	case c.In != "":
		return "whose " + string(c.In) + " mentions " + values
	case c.Not:
		return "that do not mention " + values
	}
	return "that mention " + values
}

// value is a value in a sentence.
func (c Condition) value(value string) string {
	switch {
	case strings.HasPrefix(value, "#"):
		return value
	case c.Field == Sound:
		return strconv.Quote(value)
	case c.Field == Text && strings.Contains(value, " "):
		return "the words " + strconv.Quote(value)
	case c.Field == Text:
		return "the word " + strconv.Quote(value)
	}
	return wordings[c.Field].sign + named(c.Field, value)
}

// names are values as people write them, where these are not names of the lexicon.
var names = map[string]string{
	"own": "your own", "competitor": "competitors", "niche": "the niche", "zh": "Chinese",
}

// named is a value as people write it.
func named(field Field, value string) string {
	if p, ok := platforms.Of(value); ok && field == Platform {
		return p.Name
	}
	if name, ok := names[value]; ok && (field == Kind || field == Language) {
		return name
	}
	for name, key := range english().keys["name"] {
		if field == Language && key == "L "+value {
			return strings.ToUpper(name[:1]) + name[1:]
		}
	}
	return value
}

// numberPhrase is a bound behind "videos".
func (c Condition) numberPhrase() string {
	op := c.Op
	if c.Not {
		op = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
	}
	n := grouped3(c.Number)
	short := map[string]string{"<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least "}[op]
	words := strings.Replace(short, "less", "fewer", 1) + n + " "
	switch c.Field {
	case Duration:
		return "of " + short + n + " " + plural("second", c.Number)
	case Age:
		return short + n + " " + plural(strings.TrimSuffix(c.Unit, "s"), c.Number) + " old"
	case Posted:
		return "posted " + map[string]string{"<": "before ", "<=": "up to ", ">": "after ", ">=": "since "}[op] + c.At.Format(time.DateOnly)
	case Engagement, LikeRate:
		return "with " + short + percent(c.Number) + "% " + map[Field]string{Engagement: "engagement", LikeRate: "likes per view"}[c.Field]
	case Words, Characters:
		return "whose " + strings.ToLower(string(c.part())) + " has " + words + plural(strings.TrimSuffix(string(c.Field), "s"), c.Number)
	case Followers:
		return "of creators with " + words + "followers"
	}
	return "with " + words + plural(strings.TrimSuffix(string(c.Field), "s"), c.Number)
}

// part is the part of the text that Words and Characters count.
func (c Condition) part() Part {
	if c.In != "" {
		return c.In
	}
	return map[Field]Part{Words: Hook, Characters: Caption}[c.Field]
}

// percent is a share in hundredths, without what binary fractions add to it.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e8)/1e6, 'f', -1, 64)
}

func plural(noun string, n float64) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// grouped3 writes a number with commas between groups of three digits.
func grouped3(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	whole, rest, found := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if found {
		return whole + "." + rest
	}
	return whole
}
