package score

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// shortsViews is 2025-03-31: since then each start of a Short counts as a view.
const shortsViews = int64(1743379200_000)

func TestShippedEpochs(t *testing.T) {
	t.Parallel()
	e := ShippedEpochs()
	for _, step := range e.Steps {
		if _, err := time.Parse(time.DateOnly, step.Read); err != nil || !strings.HasPrefix(step.Source, "https://") {
			t.Errorf("%+v: error %v, want the address of a page and the day it was read", step, err)
		}
	}
	august := time.Date(2026, 8, 24, 0, 0, 0, 0, time.UTC).UnixMilli()
	for name, c := range map[string]struct {
		kind   Kind
		posted int64
		want   int
	}{
		"a Short before":          {YouTubeShort, shortsViews - 1, 0},
		"a Short of the day":      {YouTubeShort, shortsViews, 1},
		"a long video before":     {YouTubeLong, august - 1, 0},
		"a long video of the day": {YouTubeLong, august, 1},
		"a Short of the other's":  {YouTubeShort, august, 1},
		"no posting time":         {YouTubeLong, Undated, 1},
		"a kind without steps":    {Instagram, august, 0},
	} {
		if got := e.side(c.kind, c.posted); got != c.want {
			t.Errorf("%s: side %d, want %d", name, got, c.want)
		}
	}
}

func TestEpochsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := Step{Kind: Instagram, From: "2026-01-02", Says: "x", Source: "https://x"}
	for want, e := range map[string]Epochs{
		"no version":      {Steps: []Step{good}},
		"is no day":       {Version: "1", Steps: []Step{{Kind: Instagram, From: "24.8.2026", Says: "x", Source: "https://x"}}},
		"are required":    {Version: "1", Steps: []Step{{Kind: Instagram, From: "2026-01-02"}}},
		"a step of 2026-": {Version: "1", Steps: []Step{good, good}},
	} {
		if err := e.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if err := (&Epochs{Version: "1", Steps: []Step{good}}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestAStepFlipsNoOutlier: where a platform counts 1.4 times as many from a day on, 100,000 videos
// of 1,000 channels have the outliers that they would have had without. Without the step in the
// list, hundreds flip.
func TestAStepFlipsNoOutlier(t *testing.T) {
	t.Parallel()
	step := time.Date(2026, 8, 24, 0, 0, 0, 0, time.UTC).UnixMilli()
	r := rand.New(rand.NewPCG(7, 11))
	known, unknown := DefaultTable(), DefaultTable()
	unknown.epochs = &Epochs{Version: "none"}
	flips := func(table *Table, before, after []Reading) (n int) {
		a, b := table.Creator(before), table.Creator(after)
		for i := range a.Len() {
			x, err := a.Score(i, nil, nil)
			y, failed := b.Score(i, nil, nil)
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			if x.ID != y.ID || x.Listed != y.Listed {
				n++
			}
		}
		return n
	}
	with, without, videos := 0, 0, 0
	for range 1000 {
		var before, after []Reading
		for i := range int64(100) {
			posted := step + (i-50)*day + int64(r.IntN(int(day)))
			views := 5 * int64(20+r.ExpFloat64()*2000)
			before = append(before, Reading{ID: i + 1, Kind: YouTubeLong, PostedAt: posted, ObservedAt: posted + 30*day + hour, Views: views, Likes: Unknown})
			if posted >= step {
				views = views / 5 * 7
			}
			after = append(after, before[i])
			after[i].Views = views
		}
		with, without, videos = with+flips(known, before, after), without+flips(unknown, before, after), videos+len(after)
	}
	if with != 0 || without < 500 || videos != 100_000 {
		t.Errorf("of %d videos %d flip, and %d where the step is not known; want 0 and at least 500 of 100,000", videos, with, without)
	}
}
