package score

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestSortKeysSortAsTheLists(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 20))
	random := func() Outlier {
		few := func() int64 { return []int64{-1, 0, 1, MaxViews}[r.IntN(4)] }
		return Outlier{
			ID: few(), Views: max(few(), 0), ObservedAt: few(), Doubtful: r.IntN(2) == 0,
			Order: Decimal{max(few(), 0), r.Int32N(2) * 9999}, Score: Decimal{max(few(), 0), r.Int32N(2)},
		}
	}
	for range 20_000 {
		a, b := random(), random()
		x, y := a.AppendKey(nil), b.AppendKey(nil)
		if len(x) != OutlierKeySize {
			t.Fatalf("got a key of %d bytes, want %d", len(x), OutlierKeySize)
		}
		if got, want := bytes.Compare(x, y), Compare(&a, &b); got != want {
			t.Fatalf("keys of %+v and %+v: got comparison %d, want %d", a, b, got, want)
		}
	}
}

func TestTrendKeysSortAsTheList(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range 200 {
		observations, carriers := randomTrends(rand.New(rand.NewPCG(uint64(seed), 21)), 60)
		at, _ := Newest(observations)
		listed, _ := NewWindow(at, Span(observations, at), observations, carriers, nil).Rank(true)
		for i := 1; i < len(listed); i++ {
			compared++
			if got := bytes.Compare(listed[i-1].AppendKey(nil), listed[i].AppendKey(nil)); got >= 0 {
				t.Fatalf("seed %d: keys of %+v and %+v: got comparison %d, want less than 0", seed, listed[i-1], listed[i], got)
			}
		}
	}
	if compared < 100 {
		t.Errorf("the test tests little: got %d pairs, want at least 100", compared)
	}
}
