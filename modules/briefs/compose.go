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
	// leastGrowth is the median growth from which views grew.
	leastGrowth = 1.2
	// format is how many times as long or as short a video of one format may be.
	format = 1.5
)

// compose is the built-in composer: it takes medians and quotes, of one thing. Creators' words
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
	b.cluster, b.what = b.about()
	b.works()
	b.opens()
	b.rises()
	b.propose()
	return b.said
}

// brief is one in the making.
type brief struct {
	outliers, hooks, trends []*stage.Fact
	// cluster is what the brief is about, and what says so in words; like and trend are the
	// opening and the trend of it, nil without one.
	cluster     []*stage.Fact
	what        string
	like, trend *stage.Fact
	said        []stage.Sentence
}

// say adds a sentence that rests on ids.
func (b *brief) say(part string, ids []string, format string, args ...any) {
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > 0 {
		b.said = append(b.said, stage.Sentence{Part: part, Text: fmt.Sprintf(format, args...), Cites: ids})
	}
}

// about chooses the one thing that the brief is about: the outliers that share the creator of
// the highest ranked one, else its opening, else its platform and about its length, else it
// alone. what says so.
func (b *brief) about() (cluster []*stage.Fact, what string) {
	if len(b.outliers) == 0 {
		return nil, ""
	}
	top := b.outliers[0]
	like := func(same func(f *stage.Fact) bool) []*stage.Fact {
		return slices.DeleteFunc(slices.Clone(b.outliers), func(f *stage.Fact) bool { return f.Platform != top.Platform || !same(f) })
	}
	handle, said := oneLine(top.Handle), b.openingOf(top)
	if cluster = like(func(f *stage.Fact) bool { return oneLine(f.Handle) == handle }); handle != "" && len(cluster) > 1 {
		return cluster, "by " + quote(handle) + " on " + top.Platform
	}
	if cluster = like(func(f *stage.Fact) bool { return b.openingOf(f) == said }); said != "" && len(cluster) > 1 {
		return cluster, "on " + top.Platform + " that begin with " + quote(said)
	}
	cluster = like(func(f *stage.Fact) bool {
		return f == top || f.DurationSeconds >= top.DurationSeconds/format && f.DurationSeconds <= top.DurationSeconds*format
	})
	if top.DurationSeconds > 0 && len(cluster) > 1 {
		return cluster, fmt.Sprintf("on %s of about %s seconds", top.Platform, number(math.Round(top.DurationSeconds)))
	}
	return []*stage.Fact{top}, ""
}

// works states what is known of the highest ranked video and of those like it.
func (b *brief) works() {
	if len(b.cluster) == 0 {
		return
	}
	top := b.cluster[0]
	by := ""
	if handle := oneLine(top.Handle); handle != "" {
		by = " by " + quote(handle)
	}
	if top.Views > 0 {
		b.say(stage.PartWorks, []string{top.ID}, "The highest ranked video%s on %s has %s views where %s are usual: %s times, compared with %d videos.",
			by, top.Platform, number(top.Views), number(top.BaselineViews), number(top.Score), top.Samples)
	} else {
		b.say(stage.PartWorks, []string{top.ID}, "The highest ranked video%s on %s has %s times the %s views that are usual, compared with %d videos.",
			by, top.Platform, number(top.Score), number(top.BaselineViews), top.Samples)
	}
	if len(b.cluster) > 1 {
		var scores []float64
		for _, f := range b.cluster {
			scores = append(scores, f.Score)
		}
		b.say(stage.PartWorks, ids(b.cluster), "Videos %s beat their usual views, by a median of %s times.", b.what, number(median(scores)))
	}
}

// opens quotes the opening of the highest ranked video whose opening is known, without
// outliers that of the newest hook.
func (b *brief) opens() {
	for _, f := range b.cluster {
		if b.like = b.hookOf(f); b.like == nil {
			continue
		}
		verb := "is spoken"
		if oneLine(b.like.Spoken) == "" {
			verb = "is printed"
		}
		b.say(stage.PartOpening, []string{f.ID}, "%s %s at the start of a video with %s times its usual views.", quote(opening(b.like)), verb, number(f.Score))
		return
	}
	if len(b.outliers) == 0 && len(b.hooks) > 0 {
		b.like = b.hooks[0]
	}
}

// rises states a trend that one of the videos is an example of, without outliers and hooks
// the first one. Less than leastGrowth is no growth.
func (b *brief) rises() {
	for _, f := range b.trends {
		if !slices.ContainsFunc(b.cluster, func(v *stage.Fact) bool { return slices.Contains(f.Examples, v.ID) }) && len(b.outliers)+len(b.hooks) > 0 {
			continue
		}
		b.trend = f
		text, args := "%s is in %d videos of the newest scrolls", []any{quote(f.Label), f.Videos}
		if f.Growth >= leastGrowth {
			text, args = text+", whose views grew by a median of %s times", append(args, number(f.Growth))
		}
		b.say(stage.PartTrend, append([]string{f.ID}, f.Examples...), text+".", args...)
		return
	}
}

// propose puts together what belongs together.
func (b *brief) propose() {
	var cites []string
	text := "Make one video"
	if len(b.cluster) > 0 {
		if known, seconds := length(b.cluster); len(known) > 0 {
			text, cites = text+fmt.Sprintf(" of about %s seconds", number(seconds)), append(cites, ids(known)...)
		}
		text, cites = text+" for "+b.cluster[0].Platform, append(cites, b.cluster[0].ID)
	}
	if b.like != nil {
		text, cites = text+" that begins like "+quote(opening(b.like)), append(cites, b.like.ID)
	}
	if b.trend != nil {
		text, cites = text+", about "+quote(b.trend.Label), append(cites, b.trend.ID)
	}
	b.say(stage.PartMake, cites, "%s.", text)
}

// hookOf is the hook of a video, nil if its opening is not known.
func (b *brief) hookOf(f *stage.Fact) *stage.Fact {
	if at := slices.IndexFunc(b.hooks, func(h *stage.Fact) bool { return h.ID == f.ID }); at >= 0 {
		return b.hooks[at]
	}
	return nil
}

// openingOf is the first sentence of a video's opening, empty if it is not known.
func (b *brief) openingOf(f *stage.Fact) string {
	if hook := b.hookOf(f); hook != nil {
		return oneLine(first(opening(hook)))
	}
	return ""
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
