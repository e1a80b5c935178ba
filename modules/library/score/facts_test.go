package score

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFactsOfACreator(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 6, 1, 9, 30, 0, 0, time.UTC).UnixMilli()
	at := func(days int64) int64 { return monday + days*day }
	read := func(id int64, kind Kind, posted, age, views, likes int64) Reading {
		return Reading{ID: id, Kind: kind, PostedAt: posted, ObservedAt: posted + age, Views: views, Likes: likes}
	}
	many := make([]Reading, 40)
	for i := range many { // the newest 30 have 1000 views, the 10 before them a million
		views := int64(1000)
		if i >= 30 {
			views = 1_000_000
		}
		many[i] = read(int64(i+1), "tiktok", at(-int64(i)), 10*day, views, Unknown)
	}
	for _, c := range []struct {
		name     string
		readings []Reading
		kinds    []KindFacts
		rhythm   Rhythm
	}{
		{name: "no videos"},
		{
			"grown-up videos, one day apart and three",
			[]Reading{
				read(1, "tiktok", at(0), 10*day, 100, 10), read(2, "tiktok", at(1), 10*day, 300, 3), read(3, "tiktok", at(4), 10*day, 200, Unknown),
			},
			[]KindFacts{{Kind: "tiktok", Videos: 3, Usable: 3, TwiceMedian: 400, TwiceGrown: 400, Rated: 2, TwiceRate: 110_000}},
			Rhythm{Dated: 3, First: at(0), Last: at(4), TwiceGap: 4 * day, Weekdays: [7]int{1, 1, 0, 0, 1, 0, 0}, Hours: [24]int{9: 3}},
		},
		{
			"young videos count as what they will have, babies do not",
			[]Reading{
				read(1, "tiktok", at(0), 24*hour, 750, 0), read(2, "tiktok", at(0), 24*hour, 1500, 0), read(3, "tiktok", at(0), 10*day, 3000, 0),
				read(4, "tiktok", at(0), hour, 10, 0),
			},
			[]KindFacts{{Kind: "tiktok", Videos: 4, Usable: 4, TwiceMedian: 2250, TwiceGrown: 4000, Rated: 4}},
			Rhythm{Dated: 4, First: at(0), Last: at(0), Weekdays: [7]int{4}, Hours: [24]int{9: 4}},
		},
		{
			"kinds are apart, what is not usable counts as a video alone",
			[]Reading{
				read(1, YouTubeLong, Undated, 0, 50, 5), read(2, YouTubeShort, at(2), 10*day, 70, 80), read(3, YouTubeShort, at(3), 10*day, 90, 9),
			},
			[]KindFacts{
				{Kind: YouTubeShort, Videos: 2, Usable: 1, TwiceMedian: 180, Rated: 1, TwiceRate: 200_000},
				{Kind: YouTubeLong, Videos: 1, Usable: 1, TwiceMedian: 100, Rated: 1, TwiceRate: 200_000},
			},
			Rhythm{Dated: 2, First: at(2), Last: at(3), TwiceGap: 2 * day, Weekdays: [7]int{2: 1, 3: 1}, Hours: [24]int{9: 2}},
		},
		{
			"hidden likes of Instagram are no likes",
			[]Reading{read(1, Instagram, at(0), 10*day, 1000, 3), read(2, Instagram, at(0), 10*day, 1000, 4)},
			[]KindFacts{{Kind: Instagram, Videos: 2, Usable: 2, TwiceMedian: 2000, Rated: 1, TwiceRate: 8000}},
			Rhythm{Dated: 2, First: at(0), Last: at(0), Weekdays: [7]int{2}, Hours: [24]int{9: 2}},
		},
		{
			"seven-day views are recent form",
			many,
			[]KindFacts{{Kind: "tiktok", Videos: 40, Usable: 40, TwiceMedian: 2000, TwiceGrown: 2000}},
			Rhythm{Dated: 40, First: at(-39), Last: at(0), TwiceGap: 2 * day, Weekdays: [7]int{6, 5, 5, 6, 6, 6, 6}, Hours: [24]int{9: 40}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kinds, rhythm := DefaultTable().Creator(c.readings).Facts()
			if diff := cmp.Diff(c.kinds, kinds); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.rhythm, rhythm); diff != "" {
				t.Errorf("rhythm (-want +got):\n%s", diff)
			}
		})
	}
}
