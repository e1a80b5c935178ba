package briefs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Kinds of facts.
const (
	outlierFact = "outlier"
	hookFact    = "hook"
	trendFact   = "trend"
)

const (
	// quoted is the most characters of a creator's text in a sentence.
	quoted = 140
	// maxQuotes and maxRising bound the sentences about openings and trends.
	maxQuotes, maxRising = 3, 3
	// fewest openings that a share is stated of.
	fewest = 3
)

// compose is the built-in composer: it counts, takes medians and quotes. Creators' words
// are between “ and ”, and nowhere else. The order of the facts is that of the lists.
func compose(facts []stage.Fact) []stage.Sentence {
	var b brief
	for i := range facts {
		switch facts[i].Kind {
		case outlierFact:
			b.outliers = append(b.outliers, &facts[i])
		case hookFact:
			if opening(&facts[i]) != "" {
				b.hooks = append(b.hooks, &facts[i])
			}
		case trendFact:
			b.trends = append(b.trends, &facts[i])
		}
	}
	b.works()
	b.openings()
	b.rising()
	b.propose()
	return b.said
}

// brief is one in the making.
type brief struct {
	outliers, hooks, trends []*stage.Fact
	said                    []stage.Sentence
}

// say adds a sentence that rests on ids.
func (b *brief) say(part string, ids []string, format string, args ...any) {
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > 0 {
		b.said = append(b.said, stage.Sentence{Part: part, Text: fmt.Sprintf(format, args...), Cites: ids})
	}
}

func (b *brief) works() {
	if len(b.outliers) == 0 {
		return
	}
	scores := make([]float64, 0, len(b.outliers))
	for _, f := range b.outliers {
		scores = append(scores, f.Score)
	}
	if n := len(b.outliers); n > 1 {
		b.say(stage.PartWorks, ids(b.outliers), "%d videos beat their usual views, by a median of %s times.", n, number(median(scores)))
	}
	top := b.outliers[0]
	by := ""
	if handle := oneLine(top.Handle); handle != "" {
		by = " by " + quote(handle)
	}
	if top.Views > 0 {
		b.say(stage.PartWorks, []string{top.ID}, "The highest ranked one%s on %s has %s views where %s are usual: %s times, compared with %d videos.",
			by, top.Platform, number(top.Views), number(top.BaselineViews), number(top.Score), top.Samples)
	} else {
		b.say(stage.PartWorks, []string{top.ID}, "The highest ranked one%s on %s has %s times the %s views that are usual, compared with %d videos.",
			by, top.Platform, number(top.Score), number(top.BaselineViews), top.Samples)
	}
	if same := on(b.outliers, top.Platform); len(same) > 1 && len(same) < len(b.outliers) {
		b.say(stage.PartWorks, ids(b.outliers), "%d of the %d are on %s.", len(same), len(b.outliers), top.Platform)
	}
	if known, seconds := length(b.outliers); len(known) > 1 {
		b.say(stage.PartWorks, ids(known), "The median length of the %d whose length is known is %s seconds.", len(known), number(seconds))
	}
}

func (b *brief) openings() {
	for _, f := range b.opened()[:min(len(b.opened()), maxQuotes)] {
		verb := "is spoken"
		if oneLine(f.hook.Spoken) == "" {
			verb = "is printed"
		}
		b.say(stage.PartOpening, []string{f.outlier.ID}, "%s %s at the start of a video with %s times its usual views.", quote(opening(f.hook)), verb, number(f.outlier.Score))
	}
	if len(b.hooks) < fewest {
		return
	}
	for _, one := range []struct {
		what string
		is   func(string) bool
	}{
		{"ask a question in their first sentence", func(s string) bool { return strings.ContainsAny(first(s), "?？؟") }},
		{"have a number in their first sentence", func(s string) bool { return strings.ContainsFunc(first(s), unicode.IsDigit) }},
	} {
		n := 0
		for _, f := range b.hooks {
			if one.is(opening(f)) {
				n++
			}
		}
		if n > 0 {
			b.say(stage.PartOpening, ids(b.hooks), "%d of the %d newest openings %s.", n, len(b.hooks), one.what)
		}
	}
}

func (b *brief) rising() {
	for _, f := range b.trends[:min(len(b.trends), maxRising)] {
		b.say(stage.PartTrend, append([]string{f.ID}, f.Examples...), "%s is in %d videos of the newest scrolls, whose views grew by a median of %s times.",
			quote(f.Label), f.Videos, number(f.Growth))
	}
}

// propose puts the strongest of each together.
func (b *brief) propose() {
	var cites []string
	text := "Make one video"
	if len(b.outliers) > 0 {
		if known, seconds := length(b.outliers); len(known) > 0 {
			text, cites = text+fmt.Sprintf(" of about %s seconds", number(seconds)), append(cites, ids(known)...)
		}
		text, cites = text+" for "+b.outliers[0].Platform, append(cites, b.outliers[0].ID)
	}
	var like *stage.Fact
	if opened := b.opened(); len(opened) > 0 {
		like = opened[0].hook
	} else if len(b.hooks) > 0 {
		like = b.hooks[0]
	}
	if like != nil {
		text, cites = text+" that begins like "+quote(opening(like)), append(cites, like.ID)
	}
	if len(b.trends) > 0 {
		text, cites = text+", about "+quote(b.trends[0].Label), append(cites, b.trends[0].ID)
	}
	b.say(stage.PartMake, cites, "%s.", text)
}

// pair is an outlier whose opening is known.
type pair struct{ outlier, hook *stage.Fact }

// opened are the outliers whose opening is known, in their order.
func (b *brief) opened() (all []pair) {
	for _, f := range b.outliers {
		if at := slices.IndexFunc(b.hooks, func(h *stage.Fact) bool { return h.ID == f.ID }); at >= 0 {
			all = append(all, pair{f, b.hooks[at]})
		}
	}
	return all
}

// opening is what the first seconds say, or else print.
func opening(f *stage.Fact) string {
	if oneLine(f.Spoken) != "" {
		return f.Spoken
	}
	if oneLine(f.OnScreenText) != "" {
		return f.OnScreenText
	}
	return ""
}

// first is the first sentence of a text, its mark included.
func first(text string) string {
	text = strings.TrimSpace(text)
	if at := strings.IndexAny(text, ".!?？؟。！\n"); at >= 0 {
		end := at + len(string([]rune(text[at:])[:1]))
		return text[:end]
	}
	return text
}

func ids(facts []*stage.Fact) []string {
	all := make([]string, 0, len(facts))
	for _, f := range facts {
		all = append(all, f.ID)
	}
	return all
}

func on(facts []*stage.Fact, platform string) (same []*stage.Fact) {
	for _, f := range facts {
		if f.Platform == platform {
			same = append(same, f)
		}
	}
	return same
}

// length is the median length of those whose length is known, in whole seconds.
func length(facts []*stage.Fact) (known []*stage.Fact, seconds float64) {
	var all []float64
	for _, f := range facts {
		if f.DurationSeconds > 0 {
			known, all = append(known, f), append(all, f.DurationSeconds)
		}
	}
	return known, math.Round(median(all))
}

// median is the mean of the middle two where the number is even; 0 of none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	half := len(all) / 2
	if len(all)%2 == 1 {
		return all[half]
	}
	return (all[half-1] + all[half]) / 2
}

// number is a number for people: whole from 100 on, else with one decimal at most, but for
// one that would be 1 and is not.
func number(x float64) string {
	if x != 1 && math.Round(x*10) == 10 {
		return strconv.FormatFloat(math.Round(x*10_000)/10_000, 'f', -1, 64)
	}
	if x >= 100 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// quote shows a creator's text as such: in one line, cut, without characters that are not
// seen, between quotation marks that it cannot close.
func quote(text string) string { return "“" + clip(oneLine(text), quoted) + "”" }

// oneLine is a creator's text in one line, without marks of quotations and characters that
// are not seen, but for the joiners of emoji and of words in some scripts.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”' || r == '„':
			return '"'
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d':
			return r
		case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	if strings.Trim(text, " \u200c\u200d") == "" {
		return "" // joiners alone are not seen either
	}
	return strings.Join(strings.Fields(text), " ")
}
