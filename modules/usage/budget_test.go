package usage

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestCalendarIsUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600))
	if Day(at) != 20270101 || Month(at) != 20270100 {
		t.Errorf("%d, %d, want at 20270101 and at 20270100", Day(at), Month(at))
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	budget := Budget{Daily: 10, Monthly: 100}
	noon := time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)
	eve := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, c := range []struct {
		name  string
		spent Spent
		at    time.Time
		want  time.Duration
	}{
		{"nothing spent", Spent{}, noon, 0},
		{"one unit left of both", Spent{9, 99}, noon, 0},
		{"day spent", Spent{10, 99}, noon, 12 * time.Hour},
		{"day overdrawn", Spent{11, 11}, noon, 12 * time.Hour},
		{"month spent", Spent{1, 100}, noon, 36 * time.Hour},
		{"both spent", Spent{10, 100}, noon, 36 * time.Hour},
		{"the year ends", Spent{10, 100}, eve, time.Second},
		{"another zone", Spent{10, 10}, noon.In(time.FixedZone("", 7200)), 12 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := budget.Wait(c.spent, c.at); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spent, budget int64
		want          int
	}{
		{0, 5000, 0},
		{49, 5000, 0},
		{50, 5000, 1},
		{4999, 5000, 99},
		{5000, 5000, 100},
		{9000, 5000, 100},
		{-1, 5000, 0},
		{0, 0, 100},
		{math.MaxInt64 - 1, math.MaxInt64, 99},
		{29, 100, 29},
		{57, 100, 57},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.spent, c.budget), func(t *testing.T) {
			if got := percent(c.spent, c.budget); got != c.want {
				t.Errorf("percent(%d, %d) = %d, want %d", c.spent, c.budget, got, c.want)
			}
		})
	}
	for spent := range int64(1001) {
		if got := percent(spent, 1000); got != int(spent/10) {
			t.Fatalf("percent(%d, 1000): got %d, want %d", spent, got, spent/10)
		}
	}
}
