package score

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkScore scores a library of 200,000 videos, sorting included: three quarters by
// creators of 40, a quarter by creators of one, who have a niche baseline.
func BenchmarkScore(b *testing.B) {
	const videos = 200_000
	r := rand.New(rand.NewPCG(1, 2))
	var creators [][]Reading
	var niche []Reading
	for id := int64(1); id <= videos; {
		size := 40
		if id > videos*3/4 {
			size = 1
		}
		var of []Reading
		for range size {
			posted := noon - r.Int64N(400*day)
			views := 100 + r.Int64N(100_000)
			of = append(of, Reading{ID: id, Kind: YouTubeShort, PostedAt: posted, ObservedAt: min(posted+r.Int64N(20*day), noon), Views: views, Likes: views / (10 + r.Int64N(90))})
			id++
		}
		creators, niche = append(creators, of), append(niche, of...)
	}
	table := DefaultTable()
	for b.Loop() {
		of := table.NicheOf(niche)
		listed := 0
		for _, readings := range creators {
			c := table.Creator(readings)
			for i := range c.Len() {
				o, err := c.Score(i, of, nil)
				if err != nil {
					b.Fatal(err)
				}
				listed += count(o.Listed)
			}
		}
		if listed < videos/10 {
			b.Fatalf("got %d listed, want at least %d", listed, videos/10)
		}
	}
	b.ReportMetric(float64(videos*b.N)/b.Elapsed().Seconds(), "videos/s")
}

// BenchmarkRank ranks the trends of a window of 20,000 videos with 5 of 4,000 keys each.
func BenchmarkRank(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	var observations []Observation
	var carriers []Carrier
	keys := make([]Key, 4000)
	for i := range keys {
		keys[i], _ = HashtagKey(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)))
	}
	for id := int64(1); id <= 20_000; id++ {
		c := Carrier{ID: id, Creator: 1 + r.Int64N(3000), PostedAt: noon - r.Int64N(14*day)}
		first := r.IntN(len(keys) - 5)
		c.Keys = keys[first : first+5]
		carriers = append(carriers, c)
		for scroll := int64(1); scroll <= 3; scroll++ {
			observations = append(observations, Observation{Video: id, Scroll: scroll, At: noon - (3-scroll)*day, Views: 100 * scroll, Likes: Unknown})
		}
	}
	for b.Loop() {
		w := NewWindow(noon, Span(observations, noon), observations, carriers, nil)
		if listed, _ := w.Rank(false); len(listed) < 100 {
			b.Fatalf("got %d trends, want at least 100", len(listed))
		}
	}
}
