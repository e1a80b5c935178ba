package rules

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/tables"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

//go:embed sentences.txt
var sentencesText string

// languages are those that sentences are written in, in the order of the table.
var languages = []string{"en", "de"}

// sentences are the templates of sentences.txt, by section and key.
var sentences = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for section, entries := range tables.Sections(sentencesText) {
		for _, e := range entries {
			all[section+" "+e.Key] = strings.Split(e.Text, " => ")
		}
	}
	return all
})

// speaker writes sentences in one of the languages.
type speaker struct{ at int }

// speakerOf is the speaker of a language, of English if that is none of those that are written.
func speakerOf(language string) speaker { return speaker{max(0, slices.Index(languages, language))} }

// say is the template of a key. A test finds those that are missing.
func (s speaker) say(key string) string {
	if in := sentences()["say "+key]; s.at < len(in) {
		return in[s.at]
	}
	return "{}"
}

// with puts a text where a template has its place.
func (s speaker) with(key, text string) string { return strings.Replace(s.say(key), "{}", text, 1) }

// sentence is the check as a sentence for people: "keeps videos with at least 1,000 views". What
// is found by comparing words says so: the word "alcohol" is not in every video about it.
func (s speaker) sentence(c Check) string {
	with := "and"
	if c.Any {
		with = "or"
	}
	out := s.with(string(c.Effect), s.phrases(c.Conditions, with))
	if len(c.Unless) > 0 {
		out += s.with("unless", s.phrases(c.Unless, "or"))
	}
	return out
}

func (s speaker) phrases(conditions []Condition, with string) string {
	all := make([]string, len(conditions))
	for i, c := range conditions {
		all[i] = s.phrase(c)
	}
	return strings.Join(all, " "+s.say(with)+" ")
}

// phrase is the condition behind "videos".
func (s speaker) phrase(c Condition) string {
	not, join, in := "", "or", ""
	if c.Not {
		not = "no "
	}
	if c.All {
		join = "and"
	}
	if c.Field == Text && c.In != "" {
		in = " in"
	}
	if c.numeric() {
		return s.number(c)
	}
	values := mapped(c.Values, func(value string) string { return s.value(c, not, value) })
	template := strings.Replace(s.say(not+string(c.Field)+in), "{part}", s.say("part "+string(c.In)), 1)
	return strings.Replace(template, "{}", strings.Join(values, " "+s.say(join)+" "), 1)
}

// value is a value in a sentence, as people write it.
func (s speaker) value(c Condition, not, value string) string {
	platform, known := platforms.Of(value)
	switch {
	case strings.HasPrefix(value, "#"):
		return value
	case c.Field == Sound:
		return s.quote(value)
	case c.Field == Text && strings.Contains(value, " "):
		return s.with(not+"words of", s.quote(value))
	case c.Field == Text:
		return s.with(not+"word", s.quote(value))
	case c.Field == Platform && known:
		return platform.Name
	case (c.Field == Language || c.Field == Kind) && sentences()["say "+value] != nil:
		return s.say(value)
	}
	return marks[c.Field] + value
}

func (s speaker) quote(value string) string {
	quoted := strconv.Quote(value)
	return s.with("quote", quoted[1:len(quoted)-1])
}

// choice is a word by its number: one/many.
var choice = lazy.Pattern(`(\pL+)/(\pL+)`)

// number is a bound behind "videos".
func (s speaker) number(c Condition) string {
	op, key, n := c.Op, string(c.Field), s.grouped(c.Number)
	if c.Not {
		op = opposite[op]
	}
	switch c.Field {
	case Age:
		key += " " + c.Unit
	case Posted:
		key += " " + op
	case Engagement, LikeRate:
		n = s.percent(c.Number)
	}
	which := "$2"
	if c.Number == 1 {
		which = "$1"
	}
	day := c.At.Format([]string{time.DateOnly, "02.01.2006"}[s.at])
	return strings.NewReplacer("{op}", s.say(op), "{few}", s.say("few "+op), "{n}", n, "{at}", day, "{part}", s.say("part "+string(c.part()))).
		Replace(choice().ReplaceAllString(s.say(key), which))
}

// opposite are what numbers must be where a comparison is turned round.
var opposite = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// part is the part of the text that Words and Characters count.
func (c Condition) part() facts.Part {
	if c.In != "" {
		return c.In
	}
	return map[Field]facts.Part{Words: facts.Hook, Characters: facts.Caption}[c.Field]
}

// percent is a share in hundredths, without what binary fractions add to it.
func (s speaker) percent(share float64) string { return s.grouped(math.Round(share*1e8) / 1e6) }

// grouped writes a number with a sign between groups of three digits: 1,234.5 or 1.234,5.
func (s speaker) grouped(n float64) string {
	group, point := []string{",", "."}[s.at], []string{".", ","}[s.at]
	whole, rest, found := strings.Cut(strconv.FormatFloat(n, 'f', -1, 64), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + group + whole[at:]
	}
	if found {
		return whole + point + rest
	}
	return whole
}

// unclear is the item, with the part that was not understood where only a part was not. All
// of it drops nothing.
func (s speaker) unclear(item string, lost []string, partly bool) string {
	if !partly {
		return item
	}
	whys := mapped(lost, func(part string) string {
		if why := sentences()["why "+part]; why != nil {
			return why[s.at]
		}
		return part
	})
	return item + " (" + s.say("not understood") + ": " + strings.Join(whys, "; ") + ")"
}
