package score

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestStepsAreQuartersOfADoubling(t *testing.T) {
	t.Parallel()
	// step is the greatest s with 2^s at most n⁴.
	step := func(n int64) int {
		return new(big.Int).Exp(big.NewInt(n), big.NewInt(4), nil).BitLen() - 1
	}
	r := rand.New(rand.NewPCG(3, 9))
	numbers := []int64{1, 2, 3, 4, 5, math.MaxInt64, 1 << 62, 1<<62 - 1}
	for range 2000 {
		numbers = append(numbers, 1+r.Int64N(1<<(1+r.IntN(62))))
	}
	for s := range 4 * 62 { // both sides of where a step begins
		first := int64(math.Exp2(float64(s) / 4))
		numbers = append(numbers, max(first-1, 1), first, first+1)
	}
	for _, n := range numbers {
		got := StepOf(n)
		if want := step(n); got != want {
			t.Fatalf("step of %d: got %d, want %d", n, got, want)
		}
		middle, want := MiddleOf(got), math.Exp2((float64(got)+0.5)/4)
		if math.Abs(float64(middle)-want) > 1+want*1e-12 || float64(middle) > want*(1+1e-12) {
			t.Errorf("middle of step %d: got %d, want %f rounded down", got, middle, want)
		}
	}
	for _, n := range []int64{0, -1, math.MinInt64} {
		if got := StepOf(n); got != 0 {
			t.Errorf("step of %d: got %d, want 0", n, got)
		}
	}
}

func TestAlikeIsTheMedianOfThoseNear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	few, many := 0, 0
	for range 500 {
		all, s := []Standing{}, Standings{}
		for range r.IntN(40) {
			one := Standing{40 + r.IntN(30), r.IntN(80)}
			all = append(all, one)
			s.Add(one, 1)
		}
		followers := int64(1000 + r.IntN(100_000))
		var self *Standing
		if len(all) > 0 && r.IntN(2) == 0 {
			self = &all[0]
		}
		var views []int
		for i, one := range all {
			if apart := one.Followers - StepOf(followers); -6 <= apart && apart <= 6 && (self == nil || i > 0) {
				views = append(views, one.Views)
			}
		}
		slices.Sort(views)
		want := int64(0)
		if few++; len(views) >= 5 {
			want = MiddleOf(views[(len(views)-1)/2])
			many++
		}
		got, creators := s.Alike(followers, self)
		if got != want || creators != len(views) {
			t.Fatalf("alike: got %d of %d creators, want %d of %d", got, creators, want, len(views))
		}
	}
	if many < 100 || few-many < 100 {
		t.Errorf("the test tests little: %d of %d with enough creators", many, few)
	}
	unknown := Standings{}
	unknown.Add(Standing{0, 9}, 9)
	if views, n := unknown.Alike(0, nil); views != 0 || n != 0 {
		t.Errorf("unknown followers: got %d of %d creators, want none", views, n)
	}
}

func TestEarlyIsAMeanInLogarithms(t *testing.T) {
	t.Parallel()
	most := int64(1) << 54
	for _, c := range []struct {
		own          []int64
		alike, share int64
		want         Early
	}{
		{[]int64{100}, 10_000, 1000, Early{1000, 416, 2400}},
		{[]int64{100}, 10_000, 250, Early{500, 208, 1200}},
		{[]int64{100, 1000}, 10_000, 1000, Early{1000, 500, 2000}},
		{[]int64{99}, 10_000, 1000, Early{994, 414, 2385}}, // 994.98
		{[]int64{1}, 1, 1, Early{1, 0, 2}},
		{[]int64{most, most}, most, 1000, Early{most, most / 2, 2 * most}},
		{[]int64{most}, most, 1000, Early{most, most * 5 / 12, most * 12 / 5}},
		{nil, 10_000, 1000, Early{}},
		{[]int64{1, 2, 3}, 10_000, 1000, Early{}},
		{[]int64{100}, 0, 1000, Early{}},
	} {
		if got := EarlyOf(c.own, c.alike, c.share); got != c.want {
			t.Errorf("early of %v, %d at %d: got %+v, want %+v", c.own, c.alike, c.share, got, c.want)
		}
	}
}

// Of each creator all videos but one or two are hidden: by how many doublings is off what
// the others' median is, by what those one or two tell.
func TestEarlyViewsAreNearWhatCreatorsHave(t *testing.T) {
	t.Parallel()
	followers := map[string]int64{}
	for _, row := range tableOf(t, "tiktok_creators_2020.csv.gz") {
		followers[row["user_name"]] = number(row["n_followers"])
	}
	table := DefaultTable()
	videos := map[string][]Reading{}
	for i, v := range creators2020(t).all {
		r := Reading{ID: int64(i), Kind: "tiktok", PostedAt: v.posted, ObservedAt: v.at, Views: v.views, Likes: v.likes}
		if Usable(r.Views, r.Likes) == Used && table.Share(r.Kind, r.Age()) == whole {
			videos[v.creator] = append(videos[v.creator], r)
		}
	}
	standings, at := Standings{}, map[string]Standing{}
	var niche []int64
	for name, of := range videos {
		if len(of) < 10 {
			continue
		}
		c := table.Creator(of)
		c.Standings(followers[name], func(_ Kind, s Standing) {
			at[name] = s
			standings.Add(s, 1)
			kinds, _ := c.Facts()
			niche = append(niche, kinds[0].TwiceGrown/2)
		})
	}
	usual := twiceMedian(niche) / 2
	r := rand.New(rand.NewPCG(2, 0))
	for _, n := range []int{1, 2} {
		off := map[string][]float64{}
		inside, of := 0, 0
		for name, self := range at {
			alike, _ := standings.Alike(followers[name], &self)
			if alike == 0 {
				continue
			}
			for range 20 {
				r.Shuffle(len(videos[name]), func(i, j int) { v := videos[name]; v[i], v[j] = v[j], v[i] })
				var own, others []int64
				for i, v := range videos[name] {
					if i < n {
						own = append(own, v.Views)
					} else {
						others = append(others, v.Views)
					}
				}
				truth := twiceMedian(others) / 2
				early := EarlyOf(own, alike, whole)
				for by, views := range map[string]int64{
					"baseline": max(usual, slices.Max(own)), "early": early.Views, "early, without followers": EarlyOf(own, usual, whole).Views,
					"own alone": twiceMedian(own) / 2, "followers alone": alike,
				} {
					off[by] = append(off[by], math.Abs(math.Log2(float64(views)/float64(truth))))
				}
				inside, of = inside+count(early.Low <= truth && truth <= early.High), of+1
			}
		}
		line := ""
		for by, all := range off {
			slices.Sort(all)
			total := 0.0
			for _, one := range all {
				total += one
			}
			line += fmt.Sprintf("; %s %.2f, mean %.2f", by, all[len(all)/2], total/float64(len(all)))
		}
		t.Logf("%d own%s; %d of %d in the interval", n, line, inside, of)
		if got, bar := off["early"][len(off["early"])/2], 0.72; got > bar {
			t.Errorf("%d own: off by %.2f doublings, want at most %.2f", n, got, bar)
		}
		if 100*inside < 75*of {
			t.Errorf("%d own: %d of %d in the interval, want at least three of four", n, inside, of)
		}
	}
}
