package imports

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

func readingOf(id string, at int64) *stage.Record {
	views := at % 1000
	return &stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Metrics: stage.Metrics{Views: &views, ObservedAt: &at}}
}

func TestReadingsAreSortedIntoRuns(t *testing.T) {
	t.Parallel()
	parts := map[int][]byte{}
	s := newSeries(9, func(run, _ int, part []byte) error {
		parts[run] = append(parts[run], part...)
		return nil
	})
	for i, r := range []*stage.Record{
		readingOf("a", 2*dayMillis+5), readingOf("b", 2*dayMillis+6), // the later day comes first
		readingOf("a", dayMillis+1), readingOf("a", dayMillis+9), // two readings on one day
		readingOf("a", dayMillis+1), // the same reading again
		readingOf("c", -5),          // before 1970
	} {
		if err := s.add(r, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.handAll(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, at := range s.ordered() {
		readings, err := unpart(parts[at])
		if err != nil {
			t.Fatal(err)
		}
		line := s.runs[at].date()
		for _, r := range readings {
			line += fmt.Sprintf(" %s%d", r.Record.ExternalID, r.Part)
		}
		got = append(got, line)
	}
	want := []string{"1969-12-31 c5", "1970-01-02 a2 a4", "1970-01-02 a3", "1970-01-03 a0 b1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs, -want +got:\n%s", diff)
	}
}

func TestRunsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSeries(2, nil)
	var err error
	for day := range int64(3) {
		err = s.add(readingOf("a", day*dayMillis), 0)
	}
	if !errors.Is(err, errRuns) {
		t.Errorf("the third day: got %v, want %v", err, errRuns)
	}
}

func TestPartsAreBounded(t *testing.T) {
	t.Parallel()
	largest, waiting, parts := 0, 0, 0
	s := newSeries(100, func(_, _ int, part []byte) error {
		parts++
		largest = max(largest, len(part))
		return nil
	})
	for i := range 60_000 {
		rec := readingOf(fmt.Sprint(i), int64(i%40)*dayMillis)
		rec.Metadata = slices.Repeat([]byte("x"), 1000)
		if err := s.add(rec, 0); err != nil {
			t.Fatal(err)
		}
		waiting = max(waiting, s.waiting)
	}
	if largest > partSize+2000 || waiting > mostWaiting || parts < 50 {
		t.Errorf("got %d parts of up to %d bytes and %d bytes waiting, want at most %d and %d", parts, largest, waiting, partSize, mostWaiting)
	}
}

func TestDamagedPartsAreAnError(t *testing.T) {
	t.Parallel()
	whole, err := appendReading(nil, readingOf("a", 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(whole); cut++ {
		if readings, err := unpart(whole[:cut]); err == nil {
			t.Errorf("cut after %d of %d bytes: got %d readings, want an error", cut, len(whole), len(readings))
		}
	}
}

func TestProgressOfAnImport(t *testing.T) {
	t.Parallel()
	report := Report{Runs: []DayRun{
		{Readings: 60, ScrollID: 1, Counts: Counts{New: 50, Again: 4}},
		{Readings: 40, ScrollID: 2},
	}}
	for _, c := range []struct {
		name    string
		i       Import
		percent float64
		sum     Counts
		already int
	}{
		{"queued", Import{Status: Queued}, 0, Counts{}, 0},
		{"reading", Import{Status: ReadingIt}, 1, Counts{}, 0},
		{"in the second run", Import{Status: Running, Report: report, ScrollID: 2, current: Run{Percent: 50, New: 7, NoRoom: 1}}, 81, Counts{New: 57, Again: 4, NoRoom: 1}, 6},
		{"completed", Import{Status: Completed, Report: report, ScrollID: 2}, 100, Counts{New: 50, Again: 4}, 46},
		{"failed", Import{Status: Failed, Report: report, ScrollID: 2}, 100, Counts{New: 50, Again: 4}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum, already := c.i.counts()
			if diff := cmp.Diff(c.sum, sum); diff != "" || already != c.already || c.i.percent() != c.percent {
				t.Errorf("got %.0f %% and %d already there, want %.0f and %d; counts, -want +got:\n%s", c.i.percent(), already, c.percent, c.already, diff)
			}
		})
	}
}

func TestReasonOfNothing(t *testing.T) {
	t.Parallel()
	for want, skips := range map[string][]Skip{
		"There is no video in the file.":                                     nil,
		"No video could be read: no_id, 3 times, first in line 2: 7.29E+18.": {{Reason: "no_id", Count: 3, Line: 2, Detail: "7.29E+18"}},
		"No video could be read: empty, 1 times: the file is empty.":         {{Reason: "empty", Count: 1, Detail: "the file is empty"}},
		"No video could be read: malformed, 9 times, first in line 1.":       {{Reason: "malformed", Count: 9, Line: 1}, {Reason: "no_id", Count: 1}},
	} {
		if got := nothingRead(Report{Understood: Understood{Skips: skips}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
