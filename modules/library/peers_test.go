package library

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// randomSamples are of all ages and dates, many at the same time.
func randomSamples(r *rand.Rand, n, dates int) (all []*sample) {
	for i := range n {
		s := &sample{id: int64(i + 1), posted: undated, views: int64(1 + r.IntN(1000))}
		if r.IntN(8) > 0 {
			s.posted = shortsViews + int64(r.IntN(dates)-dates/2)*day
		}
		s.at = max(s.posted, 0) + int64(r.IntN(8))*10*hour
		all = append(all, s)
	}
	return all
}

// best scores target by the first count peers in the given order.
func best(all []*sample, target *sample, youtube bool, count int, order func(a, b *sample) int) score {
	var peers []*sample
	for _, s := range all {
		if target.accepts(s, youtube) {
			peers = append(peers, s)
		}
	}
	slices.SortFunc(peers, order)
	var views []int64
	for _, s := range peers[:min(count, len(peers))] {
		views = append(views, s.views)
	}
	return scoreOf(views)
}

func TestCreatorPeersAreTheNearest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := randomSamples(r, 1+r.IntN(150), 2+r.IntN(900))
		slices.SortFunc(all, byDate)
		scratch := make([]int64, 0, creatorPeerCount)
		for i, target := range all {
			got := creatorScore(all, i, seed%2 == 0, scratch)
			want := best(all, target, seed%2 == 0, creatorPeerCount, func(a, b *sample) int {
				if target.posted == undated || a.posted == undated || b.posted == undated {
					return byDate(a, b)
				}
				return cmp.Or(cmp.Compare(abs(a.posted-target.posted), abs(b.posted-target.posted)), byDate(a, b))
			})
			if got != want {
				t.Fatalf("seed %d, sample %d of %d: got %+v, want %+v", seed, i, len(all), got, want)
			}
		}
	}
}

func TestNichePeersAreTheNewest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		all := randomSamples(r, 100+r.IntN(1200), 2+r.IntN(1200))
		slices.SortFunc(all, byDate)
		known := dated(all)
		part := 1 + r.IntN(300)
		b := &niche{youtube: seed%2 == 0, more: func(noDate bool, after *sample) ([]*sample, bool, error) {
			sorted := all[:known]
			if noDate {
				sorted = all[known:]
			}
			from := 0
			if after != nil {
				from = sort.Search(len(sorted), func(i int) bool { return byDate(sorted[i], after) > 0 })
			}
			next := sorted[from:min(len(sorted), from+part)]
			return next, len(next) < part, nil
		}}
		targets := slices.Clone(all)
		if seed%3 > 0 { // as scoring has them; else in any order
			slices.SortFunc(targets, func(a, b *sample) int { return cmp.Or(cmp.Compare(a.age(), b.age()), byDate(a, b)) })
		}
		for _, target := range targets {
			got, err := b.score(target)
			if err != nil {
				t.Fatal(err)
			}
			if want := best(all, target, b.youtube, nichePeerCount, byDate); got != want {
				t.Fatalf("seed %d, %+v: got %+v, want %+v", seed, target, got, want)
			}
		}
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	type row struct {
		score     float64
		views, at int64
		id        int64
	}
	r := rand.New(rand.NewPCG(3, 3))
	var rows []row
	for i := range 500 {
		rows = append(rows, row{round4(1 + float64(r.IntN(4))/3), int64(r.IntN(3)), now + int64(r.IntN(3)), int64(i)})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return slices.Compare(outlierOrder(a.score, a.views, a.at, a.id, 1, 3), outlierOrder(b.score, b.views, b.at, b.id, 1, 3))
	})
	if !slices.IsSortedFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.views, a.views), cmp.Compare(b.at, a.at), cmp.Compare(a.id, b.id))
	}) {
		t.Error("outlier keys do not sort as outliers do")
	}
	for _, l := range []list{hooks, outliers, trends, videos} {
		key := make([]byte, l.keySize())
		token := l.token(key)
		if got, ok := l.key(token); !ok || !slices.Equal(got, key) {
			t.Errorf("token of %c is not read back", l)
		}
		for _, other := range []list{hooks, outliers, trends, videos} {
			if _, ok := other.key(token); ok != (l == other) {
				t.Errorf("token of %c in %c: %v", l, other, ok)
			}
		}
		for _, broken := range []string{"x", token + "A", token[:len(token)-2], "%%%", "aGVsbG8"} {
			if _, ok := l.key(broken); ok && l != trends {
				t.Errorf("token %q passes", broken)
			}
		}
	}
}
