package quota

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	long := noon.Add(-2 * time.Hour)
	cases := map[string]struct {
		tenants map[int64]tenant
		units   int64
		late    bool
		want    decision
	}{
		"alone, the whole":                     {nil, 100, false, granted},
		"alone, more than the whole":           {nil, 101, false, never},
		"alone, more than is left":             {map[int64]tenant{1: {used: 60}}, 41, false, usedUp},
		"within the share":                     {map[int64]tenant{2: {used: 50, last: noon}}, 50, false, granted},
		"beyond it, the other at work":         {map[int64]tenant{1: {used: 50}, 2: {used: 10, last: noon}}, 1, false, claimed},
		"beyond it, the other done":            {map[int64]tenant{1: {used: 50}, 2: {used: 10, asked: 10, last: long}}, 40, false, granted},
		"beyond it, into what another needs":   {map[int64]tenant{1: {used: 50}, 2: {asked: 30, last: long}}, 21, false, claimed},
		"beyond it, beside what another needs": {map[int64]tenant{1: {used: 50}, 2: {asked: 30, last: long}}, 20, false, granted},
		"a greedy day before claims a share":   {map[int64]tenant{1: {used: 50}, 2: {asked: 900, last: long}}, 1, false, claimed},
		"late in the day":                      {map[int64]tenant{1: {used: 50}, 2: {used: 10, last: noon}}, 40, true, granted},
		"late in the day, too much":            {map[int64]tenant{1: {used: 50}, 2: {used: 10, last: noon}}, 41, true, usedUp},
		"a newcomer within its share":          {map[int64]tenant{2: {used: 90, last: noon}}, 10, false, granted},
		"a newcomer who finds nothing":         {map[int64]tenant{2: {used: 100, last: noon}}, 1, false, usedUp},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request{Allowance: Allowance{Limit: 100}, account: 1, units: c.units}
			r.period = day(noon, time.UTC)
			if c.late {
				r.period = day(noon.Add(6*time.Hour), time.UTC)
			}
			if got := r.decide(c.tenants); got != c.want {
				t.Errorf("%s: decision %d, want %d", name, got, c.want)
			}
		})
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		window         Window
		now, end, free string
	}{
		{UTCDay, "2026-03-08T00:00:00Z", "2026-03-09T00:00:00Z", "2026-03-08T18:00:00Z"},
		{UTCDay, "2026-03-08T23:59:59Z", "2026-03-09T00:00:00Z", "2026-03-08T18:00:00Z"},
		{PacificDay, "2026-01-15T07:59:59Z", "2026-01-15T08:00:00Z", "2026-01-15T02:00:00Z"},
		{PacificDay, "2026-01-15T08:00:00Z", "2026-01-16T08:00:00Z", "2026-01-16T02:00:00Z"},
		{PacificDay, "2026-07-15T07:00:00Z", "2026-07-16T07:00:00Z", "2026-07-16T01:00:00Z"},
		// The clocks go forward: 23 hours; and back: 25.
		{PacificDay, "2026-03-08T09:00:00Z", "2026-03-09T07:00:00Z", "2026-03-09T01:15:00Z"},
		{PacificDay, "2026-11-01T09:00:00Z", "2026-11-02T08:00:00Z", "2026-11-02T01:45:00Z"},
		{Week, "2026-09-01T10:20:30Z", "2026-09-08T11:00:00Z", ""},
	} {
		t.Run(string(c.window)+" at "+c.now, func(t *testing.T) {
			now, _ := time.Parse(time.RFC3339, c.now)
			p, err := c.window.at(now, pacific)
			if err != nil {
				t.Fatal(err)
			}
			free := ""
			if !p.free.IsZero() {
				free = p.free.UTC().Format(time.RFC3339)
			}
			if end := p.end.UTC().Format(time.RFC3339); end != c.end || free != c.free {
				t.Errorf("got the end %s, free from %s; want %s, %s", end, free, c.end, c.free)
			}
		})
	}
	if _, err := Window("month").at(time.Now(), pacific); err == nil {
		t.Error("a window that does not exist, want an error")
	}
}
