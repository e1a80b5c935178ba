package library

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/library/score"
)

// naiveLine is a listed trend, in texts.
type naiveLine struct {
	Key, Strength, Median string
	Videos                int
	Examples              []int64
	// Lately is the direction, the new creators and the creators a day.
	Lately string
}

// The rules once more, as plainly as they can be written: every video is compared with
// every other one, in rational numbers, by code that shares nothing with the package but
// the readings. The table is typed anew too.

var naiveHours = []int64{1, 3, 6, 12, 24, 48, 72, 120, 168}

var naiveRows = map[score.Kind][]int64{
	"":              {150, 500, 540, 600, 750, 850, 880, 960, 1000},
	"youtube_short": {15, 50, 130, 280, 440, 590, 690, 870, 1000},
	"youtube_long":  {110, 150, 210, 260, 430, 670, 740, 870, 1000},
	"instagram":     {225, 390, 460, 575, 775, 860, 900, 960, 1000},
}

func naiveShare(r *score.Reading) int64 {
	if r.PostedAt == score.Undated {
		return 1000
	}
	at := r.ObservedAt
	if at%86_400_000 == 0 {
		at += 86_400_000
	}
	row := naiveRows[r.Kind]
	if row == nil {
		row = naiveRows[""]
	}
	age := big.NewRat(at-r.PostedAt, 3_600_000)
	if age.Cmp(big.NewRat(1, 1)) < 0 {
		return row[0]
	}
	for i := 0; i+1 < len(row); i++ {
		from, to := big.NewRat(naiveHours[i], 1), big.NewRat(naiveHours[i+1], 1)
		if age.Cmp(to) < 0 {
			way := new(big.Rat).Quo(new(big.Rat).Sub(age, from), new(big.Rat).Sub(to, from))
			way.Mul(way, big.NewRat(row[i+1]-row[i], 1)).Add(way, big.NewRat(row[i], 1))
			return new(big.Int).Quo(way.Num(), way.Denom()).Int64()
		}
	}
	return 1000
}

type naiveVideo struct {
	score.Reading
	creator string
	share   int64
}

func (v *naiveVideo) usable() bool {
	return v.Views > 0 && v.Likes <= v.Views
}

// naiveOutlier is all text, so that a difference shows at once.
type naiveOutlier struct {
	ID              int64
	Basis           string
	Baseline, Score string
	Order           string
	Samples, Own    int
	Doubtful        bool
	Listed          bool
}

func rat(n int64) *big.Rat { return big.NewRat(n, 1) }

// four is a rational with 4 decimals, half up, without trailing zeros.
func four(r *big.Rat) string {
	text := r.FloatString(4) // half away from zero, which is up here
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func naiveMedian(of []*big.Rat) *big.Rat {
	sorted := slices.Clone(of)
	slices.SortFunc(sorted, func(a, b *big.Rat) int {
		if a.IsInt() && b.IsInt() {
			return a.Num().Cmp(b.Num()) // the same, ten times faster
		}
		return a.Cmp(b)
	})
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	sum := new(big.Rat).Add(sorted[n/2-1], sorted[n/2])
	return sum.Quo(sum, rat(2))
}

func naiveNearest(target *naiveVideo) func(a, b *naiveVideo) int {
	return func(a, b *naiveVideo) int {
		if target.PostedAt != score.Undated && a.PostedAt != score.Undated && b.PostedAt != score.Undated {
			if c := cmp.Compare(naiveApart(a.PostedAt, target.PostedAt), naiveApart(b.PostedAt, target.PostedAt)); c != 0 {
				return c
			}
		}
		return naiveNewest(a, b)
	}
}

// naiveApart is the distance of any two times.
func naiveApart(a, b int64) uint64 { return uint64(max(a, b)) - uint64(min(a, b)) }

func naiveNewest(a, b *naiveVideo) int {
	if (a.PostedAt == score.Undated) != (b.PostedAt == score.Undated) {
		if a.PostedAt == score.Undated {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(b.PostedAt, a.PostedAt), cmp.Compare(a.ID, b.ID))
}

func naivePeer(target, p *naiveVideo) bool {
	if p.ID == target.ID || p.Kind != target.Kind || !p.usable() || p.share*2 < target.share {
		return false
	}
	if target.PostedAt != score.Undated && p.PostedAt != score.Undated {
		if d := target.PostedAt - p.PostedAt; d > 365*86_400_000 || -d > 365*86_400_000 {
			return false
		}
	}
	if day := map[score.Kind]int64{"youtube_short": 1743379200000, "youtube_long": 1787529600000}[target.Kind]; day > 0 {
		after := func(v *naiveVideo) bool { return v.PostedAt == score.Undated || v.PostedAt >= day }
		if after(target) != after(p) {
			return false
		}
	}
	return true
}

func naiveScore(target *naiveVideo, sameCreator, sameKind []*naiveVideo) naiveOutlier {
	o := naiveOutlier{ID: target.ID, Basis: "none"}
	if !target.usable() {
		return o
	}
	expected := func(peers []*naiveVideo) (all []*big.Rat) {
		for _, p := range peers {
			e := new(big.Rat).Mul(rat(p.Views), big.NewRat(target.share, p.share))
			floor := new(big.Int).Quo(e.Num(), e.Denom())
			if floor.Sign() == 0 {
				floor.SetInt64(1)
			}
			all = append(all, new(big.Rat).SetInt(floor))
		}
		return all
	}
	fit := func(p *naiveVideo) bool { return naivePeer(target, p) }
	own := expected(naiveChoose(sameCreator, 30, fit, naiveNearest(target)))
	o.Own = len(own)
	var baseline *big.Rat
	if len(own) >= 3 {
		o.Basis, o.Samples, baseline = "creator", len(own), naiveMedian(own)
	} else {
		others := expected(naiveFirst(sameKind, 200, fit))
		if len(others) < 3 {
			return o
		}
		o.Basis, o.Samples, baseline = "niche", len(others), naiveMedian(others)
		for _, e := range own {
			if e.Cmp(baseline) > 0 {
				baseline = e
			}
		}
	}
	views := rat(target.Views)
	ratio := new(big.Rat).Quo(views, baseline)
	o.Baseline, o.Score, o.Listed = four(baseline), four(ratio), ratio.Cmp(rat(1)) > 0
	least := baseline
	if least.Cmp(rat(100)) < 0 {
		least = rat(100)
	}
	order := new(big.Rat).Quo(new(big.Rat).Mul(rat(int64(len(own))), views), least)
	order.Add(order, rat(2)).Quo(order, rat(int64(len(own)+2)))
	o.Order = four(order)

	o.Doubtful = naiveDoubtful(target, sameCreator)
	return o
}

func naiveChoose(from []*naiveVideo, most int, fit func(*naiveVideo) bool, order func(a, b *naiveVideo) int) (chosen []*naiveVideo) {
	for _, p := range from {
		if fit(p) {
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, order)
	return chosen[:min(most, len(chosen))]
}

// naiveFirst are the first that fit, which is naiveChoose of what is in order already.
func naiveFirst(from []*naiveVideo, most int, fit func(*naiveVideo) bool) (chosen []*naiveVideo) {
	for _, p := range from {
		if len(chosen) == most {
			break
		}
		if fit(p) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

func naiveDoubtful(target *naiveVideo, sameCreator []*naiveVideo) bool {
	knows := func(p *naiveVideo) bool { return p.Likes >= 0 && (p.Kind != "instagram" || p.Likes > 3) }
	var rates []*big.Rat
	for _, p := range naiveChoose(sameCreator, 30, func(p *naiveVideo) bool {
		return p.ID != target.ID && p.Kind == target.Kind && p.usable() && knows(p)
	}, naiveNearest(target)) {
		rates = append(rates, new(big.Rat).SetInt(new(big.Int).Quo(new(big.Int).Mul(big.NewInt(p.Likes), big.NewInt(1_000_000)), big.NewInt(p.Views))))
	}
	if len(rates) < 3 || !knows(target) {
		return false
	}
	usual := new(big.Rat).Mul(naiveMedian(rates), rat(target.Views))
	usual.Quo(usual, rat(1_000_000))
	return usual.Cmp(rat(30)) >= 0 && new(big.Rat).Mul(rat(target.Likes), rat(10)).Cmp(usual) < 0
}

// naiveScores scores one video in every of a library, by id; a video of no creator is alone.
func naiveScores(videos []*naiveVideo, every int64) map[int64]naiveOutlier {
	creators, kinds := map[string][]*naiveVideo{}, map[score.Kind][]*naiveVideo{}
	for _, v := range videos {
		v.share = naiveShare(&v.Reading)
		creators[v.creator] = append(creators[v.creator], v)
		kinds[v.Kind] = append(kinds[v.Kind], v)
	}
	for _, of := range kinds {
		slices.SortFunc(of, naiveNewest)
	}
	scores := map[int64]naiveOutlier{}
	for _, v := range videos {
		if v.ID%every != 0 {
			continue
		}
		var same []*naiveVideo
		if v.creator != "" {
			same = creators[v.creator]
		}
		scores[v.ID] = naiveScore(v, same, kinds[v.Kind])
	}
	return scores
}

// naiveTrends are the listed trends by the rules, with a video's last usable views.
func naiveTrends(t int64, observations []score.Observation, carriers []score.Carrier, generic []string, withArchived bool) (list []naiveLine) {
	span := int64(0)
	type seen struct{ first, last *score.Observation }
	var window map[int64]*seen
	look := func(w int64) (grown int) {
		window = map[int64]*seen{}
		sorted := slices.Clone(observations)
		slices.SortFunc(sorted, func(a, b score.Observation) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Scroll, b.Scroll))
		})
		for i := range sorted {
			o := &sorted[i]
			if o.At > t || o.At <= t-2*w {
				continue
			}
			if window[o.Video] == nil {
				window[o.Video] = &seen{}
			}
			if o.Views > 0 && o.Likes <= o.Views {
				if window[o.Video].first == nil {
					window[o.Video].first = o
				}
				window[o.Video].last = o
			}
		}
		for _, s := range window {
			if s.first != nil && s.first.Scroll != s.last.Scroll {
				grown++
			}
		}
		return grown
	}
	for _, days := range []int64{7, 14, 28, 56, 112, 7} {
		span = days * 86_400_000
		if look(span) >= 2 {
			break
		}
	}
	half := func(c *score.Carrier) int {
		switch {
		case c.PostedAt == score.Undated || c.PostedAt > t || c.PostedAt <= t-2*span:
			return 0
		case c.PostedAt > t-span:
			return 1
		}
		return 2
	}
	all := [3]map[int64]bool{{}, {}, {}}
	total := 0
	byKey := map[string][]*score.Carrier{}
	for i := range carriers {
		c := &carriers[i]
		if window[c.ID] == nil {
			continue
		}
		total++
		all[half(c)][c.Creator] = true
		for _, k := range c.Keys {
			byKey[k.Key] = append(byKey[k.Key], c)
		}
	}
	type one struct {
		naiveLine
		recent map[int64]bool
	}
	var found []one
	for key, carriers := range byKey {
		if slices.Contains(generic, strings.TrimPrefix(key, "hashtag:")) || total >= 10 && float64(len(carriers)) > 0.6*float64(total)+1e-9 {
			continue
		}
		used := [3]map[int64]bool{{}, {}, {}}
		recent, grownBy := map[int64]bool{}, map[int64]bool{}
		var multiples []*big.Rat
		var examples []*score.Carrier
		videos := 0
		for _, c := range carriers {
			if c.Archived && !withArchived {
				continue
			}
			videos++
			used[half(c)][c.Creator] = true
			s := window[c.ID]
			if half(c) == 1 {
				recent[c.ID] = true
				if s.last != nil {
					examples = append(examples, c)
				}
			}
			if s.first != nil && s.first.Scroll != s.last.Scroll {
				multiples = append(multiples, big.NewRat(s.last.Views, max(100, s.first.Views)))
				grownBy[c.Creator] = true
			}
		}
		earliest := map[int64]int64{} // by creator, in days before t
		for _, c := range carriers {
			if c.Archived && !withArchived || c.PostedAt == score.Undated || c.PostedAt > t {
				continue
			}
			ago := (t - c.PostedAt) / 86_400_000
			earliest[c.Creator] = max(earliest[c.Creator], ago)
		}
		fresh, before := 0, 0
		for _, ago := range earliest {
			switch {
			case ago < 3:
				fresh++
			case ago < 6:
				before++
			}
		}
		c, p := int64(len(used[1])), int64(len(used[2]))
		if c < 3 || len(multiples) < 2 || len(grownBy) < 2 {
			continue
		}
		e := new(big.Rat)
		if len(all[2]) > 0 {
			e.SetFrac64(p*int64(len(all[1])), int64(len(all[2])))
		}
		strength := new(big.Rat).Quo(rat(c*c), e.Add(e, rat(3)))
		slices.SortFunc(examples, func(a, b *score.Carrier) int {
			return cmp.Or(cmp.Compare(window[b.ID].last.Views, window[a.ID].last.Views), cmp.Compare(a.ID, b.ID))
		})
		o := one{recent: recent}
		o.naiveLine = naiveLine{Key: key, Strength: four(strength), Median: four(naiveMedian(multiples)), Videos: videos}
		direction := "holding"
		if fresh > 1 && float64(fresh) >= 1.5*float64(before) {
			direction = "rising"
		} else if before > 1 && float64(before) >= 1.5*float64(fresh) {
			direction = "falling"
		}
		o.Lately = fmt.Sprintf("%s %d %s", direction, fresh, four(big.NewRat(c, span/86_400_000)))
		shown := map[int64]bool{}
		for _, c := range examples {
			if !shown[c.Creator] && len(o.Examples) < 3 {
				shown[c.Creator] = true
				o.Examples = append(o.Examples, c.ID)
			}
		}
		found = append(found, o)
	}
	slices.SortFunc(found, func(a, b one) int {
		x, _ := new(big.Rat).SetString(a.Strength)
		y, _ := new(big.Rat).SetString(b.Strength)
		return cmp.Or(y.Cmp(x), cmp.Compare(b.Videos, a.Videos), strings.Compare(a.Key, b.Key))
	})
	var kept []one
next:
	for _, o := range found {
		for _, above := range kept {
			shared := 0
			for id := range o.recent {
				if above.recent[id] {
					shared++
				}
			}
			if 2*shared >= len(o.recent)+len(above.recent)-shared {
				continue next
			}
		}
		kept = append(kept, o)
		list = append(list, o.naiveLine)
	}
	return list
}
