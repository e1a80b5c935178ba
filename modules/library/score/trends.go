package score

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
	"strings"
)

// TrendVideos is the least number of videos with a multiple in a trend, and in a window.
const TrendVideos = 2

// The rules of what a trend is.
const (
	// trendCreators is the least number of recent creators: two may copy each other.
	trendCreators = 3
	// grownCreators is the least number of creators of videos with a multiple.
	grownCreators = 2
	// A key on more than commonPart in commonOf of a window's videos says nothing, once
	// there are commonFrom.
	commonPart, commonOf, commonFrom = 6, 10, 10
	// unsure is added to the expected creators, so that three of none expected are no
	// more than a good sign.
	unsure = 3
	// trendExamples bounds the examples.
	trendExamples = 3
)

// Drop says why a key is not listed.
type Drop string

// The reasons, in the order in which they are asked.
const (
	Kept         Drop = ""
	GenericKey   Drop = "generic"
	TooCommon    Drop = "too_common"
	FewCreators  Drop = "few_creators"
	FewMultiples Drop = "few_multiples"
	Overlaps     Drop = "overlaps"
)

// Trend is a key with all its numbers.
type Trend struct {
	Key, Label string
	// Recent and Earlier are c and p: the creators of the key's recent and earlier videos.
	Recent, Earlier int
	// Strength is c² ÷ (e + 3), where e, the creators to expect, is p × C ÷ P.
	Strength Decimal
	// New are the creators whose first video with the key, of those of the window with a
	// date, is of the last 3 days before T; NewBefore those whose first is of the 3 days before these.
	New, NewBefore int
	// PerDay is c by the days of the span.
	PerDay Decimal
	// VideoCount counts the window's videos with the key.
	VideoCount int
	// Grown counts those that have a multiple, GrownCreators their creators.
	Grown, GrownCreators int
	// MedianGrowth is the median of the multiples, 0 if no video has one. Trends are
	// not ordered by it: how much videos grew says little of what comes.
	MedianGrowth Decimal
	// Examples are ids of up to three recent videos, the most viewed of each creator.
	Examples []int64
	// Drop is Kept where the key is listed; By is then the listed key it Overlaps.
	Drop Drop
	By   string

	// RecentVideos are the recent videos that were counted, by id: see Distinct.
	RecentVideos []int64
}

// Direction says whether more creators come to a key than before. It tells what was counted,
// not what comes.
type Direction uint8

// The directions, in the order of lists.
const (
	// Rising: at least two new creators, and half as many again as in the 3 days before.
	Rising Direction = 1 + iota
	Holding
	// Falling is the same the other way round.
	Falling
)

// String is the stable name of the direction.
func (d Direction) String() string { return [...]string{"all", "rising", "holding", "falling"}[d] }

// Direction compares the new creators with those of the days before.
func (t *Trend) Direction() Direction {
	switch {
	case t.New >= 2 && 2*t.New >= 3*t.NewBefore:
		return Rising
	case t.NewBefore >= 2 && 2*t.NewBefore >= 3*t.New:
		return Falling
	}
	return Holding
}

// Generic makes the test of NewWindow and Gather from hashtags and terms in any case.
func Generic(words []string) func(key string) bool {
	generic := make(map[string]bool, len(words))
	for _, word := range words {
		generic[tagOf(word)] = true
	}
	return func(key string) bool {
		name, found := strings.CutPrefix(key, "hashtag:")
		if !found {
			name, found = strings.CutPrefix(key, "term:")
		}
		return found && generic[name]
	}
}

// HashtagKey is the trend key of a hashtag, with or without its sign; ok is false if
// nothing is left of it.
func HashtagKey(tag string) (key Key, ok bool) {
	label := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(tag), "#＃"))
	return Key{"hashtag:" + Fold(label), "#" + label}, label != ""
}

// Rank lists the trends of the window in the order of Distinct. dropped are all other keys,
// by key. All of a key's numbers leave archived videos out unless withArchived; C, P and
// the 60% rule count them always, so that archiving one video moves no key that it does
// not carry.
func (w *Window) Rank(withArchived bool) (listed, dropped []Trend) {
	var fit []Trend
	for key := range w.keys {
		if t := w.Measure(key, withArchived); t.Drop == Kept {
			fit = append(fit, t)
		} else {
			dropped = append(dropped, t)
		}
	}
	listed, same := Distinct(fit)
	dropped = append(dropped, same...)
	slices.SortFunc(dropped, func(a, b Trend) int { return strings.Compare(a.Key, b.Key) })
	return listed, dropped
}

// Trends are the keys that Rank lists, and those that it drops because they overlap with
// one above them. It does not measure the many keys that have too few recent videos for
// three creators.
func (w *Window) Trends(withArchived bool) (listed, same []Trend) {
	var fit []Trend
	for key, of := range w.keys {
		recent := 0
		for _, i := range of.members {
			if m := &w.members[i]; m.When == Recent && (withArchived || !m.Archived) {
				recent++
			}
		}
		if recent < trendCreators {
			continue
		}
		if t := w.Measure(key, withArchived); t.Drop == Kept {
			fit = append(fit, t)
		}
	}
	return Distinct(fit)
}

// Distinct sorts trends by strength and number of videos, highest first, then key. It drops
// each that is the same trend as one above it: half or more of the recent videos of the two
// are of both (2 × shared ≥ all).
func Distinct(fit []Trend) (listed, dropped []Trend) {
	slices.SortFunc(fit, func(a, b Trend) int {
		return cmp.Or(b.Strength.Compare(a.Strength), cmp.Compare(b.VideoCount, a.VideoCount), strings.Compare(a.Key, b.Key))
	})
	above := map[int64][]int32{} // by video, which of listed it carries as a recent one
	shared := []int32{}
	for _, t := range fit {
		if by := overlap(&t, listed, above, shared[:len(listed)]); by >= 0 {
			t.Drop, t.By = Overlaps, listed[by].Key
			dropped = append(dropped, t)
			continue
		}
		for _, id := range t.RecentVideos {
			above[id] = append(above[id], int32(len(listed)))
		}
		listed, shared = append(listed, t), append(shared, 0)
	}
	return listed, dropped
}

// overlap returns the place of the first listed trend that is the same as t, -1 where there
// is none. shared has a 0 for each listed trend, and has again when it returns.
func overlap(t *Trend, listed []Trend, above map[int64][]int32, shared []int32) int {
	by := -1
	var touched []int32
	for _, id := range t.RecentVideos {
		for _, l := range above[id] {
			if shared[l]++; shared[l] == 1 {
				touched = append(touched, l)
			}
		}
	}
	for _, l := range touched {
		all := len(t.RecentVideos) + len(listed[l].RecentVideos) - int(shared[l])
		if 2*int(shared[l]) >= all && (by < 0 || int(l) < by) {
			by = int(l)
		}
		shared[l] = 0
	}
	return by
}

// Measure works out a key's numbers and whether they make a trend, apart from the overlap
// with others. A key that no video of the window carries has none.
func (w *Window) Measure(key string, withArchived bool) Trend {
	members := w.Members(key)
	t := w.Totals().Measure(Key{key, w.label(key)}, members, withArchived)
	if w.generic != nil && w.generic(key) {
		t.Drop = GenericKey
	}
	return t
}

// Totals are the numbers of a window that the numbers of its keys are measured by.
type Totals struct {
	// T and Span are those of the window.
	T, Span int64
	// Videos, Recent and Earlier count the window's videos, C and P, archived ones too.
	Videos, Recent, Earlier int
}

// Totals are those of the window.
func (w *Window) Totals() Totals {
	return Totals{T: w.T, Span: w.Span, Videos: w.videos, Recent: w.Recent, Earlier: w.Earlier}
}

// Measure is Window.Measure for a key whose members, by id and with the archived ones, are
// known without the window. It does not ask whether the key is generic.
func (of Totals) Measure(key Key, members []Member, withArchived bool) Trend {
	t := Trend{Key: key.Key, Label: key.Label}
	var grown []fraction
	var who, now, before []int64
	var recent []*Member
	first := map[int64]Lately{} // by creator
	for i := range members {
		m := &members[i]
		if m.Archived && !withArchived {
			continue
		}
		t.VideoCount++
		if m.Lately != NotDated {
			first[m.Creator] = max(first[m.Creator], m.Lately)
		}
		switch m.When {
		case Recent:
			recent, now = append(recent, m), append(now, m.Creator)
			t.RecentVideos = append(t.RecentVideos, m.ID)
		case Earlier:
			before = append(before, m.Creator)
		}
		if num, den, ok := m.Multiple(); ok {
			grown, who = append(grown, fraction{num, den}), append(who, m.Creator)
		}
	}
	t.Grown, t.GrownCreators = len(grown), distinctOf(who)
	t.Recent, t.Earlier = distinctOf(now), distinctOf(before)
	for _, at := range first {
		t.New += count(at == LastDays)
		t.NewBefore += count(at == DaysBefore)
	}
	t.PerDay = ratio(uint64(t.Recent)*uint64(day), uint64(max(of.Span, 1)))
	t.Strength = strength(t.Recent, t.Earlier, of.Recent, of.Earlier)
	t.MedianGrowth = medianFraction(grown)
	t.Examples = examples(recent)
	switch {
	case of.Videos >= commonFrom && commonOf*len(members) > commonPart*of.Videos:
		t.Drop = TooCommon
	case t.Recent < trendCreators:
		t.Drop = FewCreators
	case t.Grown < TrendVideos || t.GrownCreators < grownCreators:
		t.Drop = FewMultiples
	}
	return t
}

// distinctOf sorts the numbers and counts the different ones.
func distinctOf(ids []int64) int {
	slices.Sort(ids)
	return len(slices.Compact(ids))
}

// strength is c² ÷ (p × C ÷ P + 3): more creators than expected, the more the better, and
// the fewer were expected. In whole numbers c² × P ÷ (p × C + 3P), or c² ÷ 3 where P is 0.
// Numbers of creators are below 2^31, so that c² × P needs 93 bits.
func strength(c, p, allRecent, allEarlier int) Decimal {
	square := uint64(c) * uint64(c)
	if allEarlier == 0 {
		return ratio(square, unsure)
	}
	hi, lo := bits.Mul64(square, uint64(allEarlier))
	return ratioWide(hi, lo, uint64(p)*uint64(allRecent)+unsure*uint64(allEarlier))
}

// examples are the most viewed recent video of each creator by its last usable reading in
// the window, most viewed first, then by id.
func examples(recent []*Member) (ids []int64) {
	var viewed []*Member
	for _, m := range recent {
		if m.LastViews > 0 {
			viewed = append(viewed, m)
		}
	}
	slices.SortFunc(viewed, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(b.LastViews, a.LastViews), cmp.Compare(a.ID, b.ID))
	})
	var who []int64
	for _, m := range viewed {
		if len(ids) == trendExamples {
			break
		}
		if !slices.Contains(who, m.Creator) {
			ids, who = append(ids, m.ID), append(who, m.Creator)
		}
	}
	return ids
}

// fraction is num ÷ den, both at most 2^53 and den above 0.
type fraction struct{ num, den int64 }

// compare without rounding; the products need 106 bits.
func (f fraction) compare(g fraction) int {
	aHi, aLo := bits.Mul64(uint64(f.num), uint64(g.den))
	bHi, bLo := bits.Mul64(uint64(g.num), uint64(f.den))
	return cmp.Or(cmp.Compare(aHi, bHi), cmp.Compare(aLo, bLo))
}

// medianFraction sorts the fractions; of an even number it is the mean of the middle two.
func medianFraction(all []fraction) Decimal {
	if len(all) == 0 {
		return Decimal{}
	}
	slices.SortFunc(all, fraction.compare)
	a, b := all[(len(all)-1)/2], all[len(all)/2]
	if len(all)%2 == 1 {
		return ratio(uint64(a.num), uint64(a.den))
	}
	// (a + b) ÷ 2 in ten-thousandths, half up: numerator and denominator need 130 bits.
	product := func(x, y int64) *big.Int { return new(big.Int).Mul(big.NewInt(x), big.NewInt(y)) }
	num := new(big.Int).Add(product(a.num, b.den), product(b.num, a.den))
	den := product(a.den, b.den)
	den.Lsh(den, 1)
	num.Mul(num, big.NewInt(20000)).Add(num, den)
	n := num.Quo(num, den.Lsh(den, 1)).Int64()
	return Decimal{Whole: n / 10000, Frac: int32(n % 10000)}
}
