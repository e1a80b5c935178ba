package score

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func TestTwiceMedianNeedsNoOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		numbers := make([]int64, r.IntN(40))
		most := 1 + r.Int64N(50) // few different ones, mostly
		for i := range numbers {
			numbers[i] = r.Int64N(most)
		}
		sorted := slices.Sorted(slices.Values(numbers))
		want := int64(0)
		if n := len(sorted); n > 0 {
			want = sorted[(n-1)/2] + sorted[n/2]
		}
		given := slices.Clone(numbers)
		if got := twiceMedian(numbers); got != want {
			t.Fatalf("%d: got %d, want %d", given, got, want)
		}
		if slices.Sort(numbers); !slices.Equal(numbers, sorted) {
			t.Fatalf("%d: got the numbers %d afterwards, want the same ones", given, numbers)
		}
	}
}

func TestFloat64IsTheNearestDouble(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 20_000 {
		d := Decimal{Whole: r.Int64N(1 << (1 + i%54)), Frac: r.Int32N(10_000)}
		want, err := strconv.ParseFloat(d.String(), 64)
		if got := d.Float64(); err != nil || got != want {
			t.Fatalf("%s: got %v, want %v, error %v", d, got, want, err)
		}
	}
}
