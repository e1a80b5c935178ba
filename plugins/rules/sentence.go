package rules

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Sentence is the check as a sentence for people: "keeps videos with at least 1,000 views".
// What is found by comparing words says so: the word "alcohol" is not in every video about it.
func (c Check) Sentence() string {
	verb := map[Effect]string{Require: "keeps only videos ", Drop: "drops videos ", Prefer: "ranks higher videos "}[c.Effect]
	with := " and "
	if c.Any {
		with = " or "
	}
	var all []string
	for _, condition := range c.Conditions {
		all = append(all, condition.phrase())
	}
	out := verb + strings.Join(all, with)
	if len(c.Unless) > 0 {
		all = nil
		for _, condition := range c.Unless {
			all = append(all, condition.phrase())
		}
		out += ", unless they are videos " + strings.Join(all, " or ")
	}
	return out
}

// phrase is the condition behind "videos".
func (c Condition) phrase() string {
	if c.numeric() {
		return c.numberPhrase()
	}
	not := ""
	if c.Not {
		not = "not "
	}
	switch c.Field {
	case Text:
		return c.saidPhrase()
	case Question:
		if c.Not {
			return "whose hook asks nothing"
		}
		return "whose hook is a question"
	case Hashtag:
		return not + "tagged " + c.list("#")
	case Platform:
		return not + "on " + c.list("")
	case Language:
		return not + "in " + c.list("")
	case Creator:
		return not + "by " + c.list("@")
	case Kind:
		return not + "of " + c.list("")
	}
	return not + "with the sound " + c.list(`"`)
}

// saidPhrase is what is searched for in texts.
func (c Condition) saidPhrase() string {
	who, verb := "that ", "mention "
	if c.In != "" {
		who, verb = "whose "+string(c.In)+" ", "mentions "
	}
	switch {
	case c.Not && c.In != "":
		verb = "does not mention "
	case c.Not:
		verb = "do not mention "
	}
	return who + verb + c.list("word")
}

// list joins the values; sign is put before each, and `word` says what is compared.
func (c Condition) list(sign string) string {
	all := make([]string, len(c.Values))
	for i, value := range c.Values {
		switch {
		case strings.HasPrefix(value, "#"):
			all[i] = value
		case sign == "word" && strings.ContainsAny(value, " "):
			all[i] = "the words " + strconv.Quote(value)
		case sign == "word":
			all[i] = "the word " + strconv.Quote(value)
		case sign == `"`:
			all[i] = strconv.Quote(value)
		default:
			all[i] = sign + named(c.Field, value)
		}
	}
	join := " or "
	if c.All {
		join = " and "
	}
	return strings.Join(all, join)
}

// named is a value as people write it.
func named(field Field, value string) string {
	if field == Platform {
		if name, ok := map[string]string{"tiktok": "TikTok", "youtube": "YouTube", "instagram": "Instagram"}[value]; ok {
			return name
		}
	}
	if field == Kind {
		return map[string]string{"own": "your own", "competitor": "competitors", "niche": "the niche"}[value]
	}
	if field == Language {
		for name, code := range english().keys["language"] {
			if code == value && name != "mandarin" {
				return strings.ToUpper(name[:1]) + name[1:]
			}
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
	words := map[string]string{"<": "fewer than ", "<=": "at most ", ">": "more than ", ">=": "at least "}[op]
	short := map[string]string{"<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least "}[op]
	switch c.Field {
	case Duration:
		return "of " + short + n + " " + plural("second", c.Number)
	case Age:
		return short + n + " " + plural(strings.TrimSuffix(c.Unit, "s"), c.Number) + " old"
	case Posted:
		return "posted " + map[string]string{"<": "before ", "<=": "up to ", ">": "after ", ">=": "since "}[op] + c.At.Format(time.DateOnly)
	case Engagement, LikeRate:
		name := map[Field]string{Engagement: "engagement", LikeRate: "likes per view"}[c.Field]
		return "with " + short + percent(c.Number) + "% " + name
	case Words, Characters:
		return "whose " + strings.ToLower(string(c.part())) + " has " + words + n + " " + plural(strings.TrimSuffix(string(c.Field), "s"), c.Number)
	case Followers:
		return "of creators with " + words + n + " followers"
	}
	return "with " + words + n + " " + plural(strings.TrimSuffix(string(c.Field), "s"), c.Number)
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
