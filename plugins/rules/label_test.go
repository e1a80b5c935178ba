package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the condition as the labels have it.
func (c Condition) String() string {
	name, verb, join := string(c.Field), " is ", " or "
	switch {
	case c.numeric() && c.In != "":
		name = string(c.In) + " " + name
	case c.In != "":
		name = string(c.In)
	}
	if c.Not {
		name = "not " + name
	}
	switch {
	case c.numeric():
		return name + " " + c.Op + " " + c.bound()
	case c.Field == Question:
		return strings.Replace(name, "question", "hook is a question", 1)
	case c.Field == Text:
		verb = " mentions "
	}
	if c.All {
		join = " and "
	}
	return name + verb + strings.Join(mapped(c.Values, func(value string) string {
		if (c.Field == Text || c.Field == Sound) && !strings.HasPrefix(value, "#") {
			return strconv.Quote(value)
		}
		return marks[c.Field] + value
	}), join)
}

func (c Condition) bound() string {
	n := strconv.FormatFloat(c.Number, 'f', -1, 64)
	switch c.Field {
	case Duration:
		return n + " s"
	case Age:
		return n + " " + c.Unit
	case Engagement, LikeRate:
		return speaker{}.percent(c.Number) + "%"
	case Posted:
		return c.At.Format(time.DateOnly)
	}
	return n
}

// String is the check as the labels have it.
func (c Check) String() string {
	with := " and "
	if c.Any {
		with = " or "
	}
	out := string(c.Effect) + " " + join(c.Conditions, with)
	if len(c.Unless) > 0 {
		out += " unless " + join(c.Unless, " or ")
	}
	return out
}

func join(conditions []Condition, with string) string {
	parts := make([]string, len(conditions))
	for i, c := range conditions {
		parts[i] = fmt.Sprint(c)
	}
	return strings.Join(parts, with)
}
