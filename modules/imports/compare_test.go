package imports

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// knownVideos is a library of some videos.
type knownVideos struct {
	Library
	records map[stage.Ref]stage.Record
	asked   int
}

func (k *knownVideos) LastRead(_ context.Context, refs []stage.Ref) (map[stage.Ref]stage.Record, error) {
	k.asked += len(refs)
	return k.records, nil
}

func TestWildDifferencesAreReported(t *testing.T) {
	t.Parallel()
	const posted, day = 1_750_000_000_000, dayMillis
	record := func(views, posted, observed int64) stage.Record {
		ref := stage.Ref{Platform: "tiktok", ExternalID: "1"}
		return stage.Record{Ref: ref, PostedAt: &posted, Metrics: stage.Metrics{Views: &views, ObservedAt: &observed}}
	}
	for _, c := range []struct {
		name        string
		known, read stage.Record
		want        string
	}{
		{"growth is right", record(10_000, posted, 5*day), record(900_000, posted, 9*day), ""},
		{"views fall by half", record(10_000, posted, 5*day), record(4_999, posted, 9*day), "views"},
		{"an older reading has more", record(10_000, posted, 5*day), record(20_001, posted, 4*day), "views"},
		{"an older reading has fewer", record(10_000, posted, 5*day), record(500, posted, 4*day), ""},
		{"growth beyond belief", record(10_000, posted, 5*day), record(1_010_000, posted, 9*day), "views"},
		{"few views say nothing", record(900, posted, 5*day), record(3, posted, 9*day), ""},
		{"two counts of one time", record(100, posted, 5*day), record(10_000, posted, 5*day), "views"},
		{"another day of the post", record(10_000, posted, 5*day), record(10_000, posted+3*day, 9*day), "postedAt"},
		{"another zone of the post", record(10_000, posted, 5*day), record(10_000, posted+day, 9*day), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			library := &knownVideos{records: map[stage.Ref]stage.Record{c.known.Ref: c.known}}
			against := &comparison{library: library, left: maxCompared}
			if err := against.look(t.Context(), []stage.Record{c.read}); err != nil {
				t.Fatal(err)
			}
			var report Report
			against.describe(&report)
			got := ""
			if len(report.Differences) > 0 {
				got = report.Differences[0].Field
			}
			if got != c.want || report.Differing != len(report.Differences) {
				t.Errorf("got %q of %d, want %q", got, report.Differing, c.want)
			}
		})
	}
}

func TestComparisonsAreBounded(t *testing.T) {
	t.Parallel()
	library := &knownVideos{}
	against := &comparison{library: library, left: 150}
	for range 3 {
		if err := against.look(t.Context(), make([]stage.Record, 100)); err != nil {
			t.Fatal(err)
		}
	}
	empty := (&Service{needs: Needs{Library: library}}).compare(Limits{Room: 7, MaxVideos: 7})
	if err := empty.look(t.Context(), make([]stage.Record, 100)); err != nil {
		t.Fatal(err)
	}
	if library.asked != 150 {
		t.Errorf("asked for %d videos, want 150", library.asked)
	}
}

func TestReportSaysWhereTheTimeIsFrom(t *testing.T) {
	t.Parallel()
	sorted := newSeries(9, nil)
	for _, id := range []string{"1", "2"} {
		at := int64(5 * dayMillis)
		if err := sorted.add(&stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Metrics: stage.Metrics{ObservedAt: &at}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	upload := Upload{Name: "a.csv", ObservedAt: 5 * dayMillis, TimeFrom: fromUpload}
	for inFile, want := range map[int]string{0: fromUpload, 1: fromUpload, 2: ""} {
		report := reportOf(upload, Understood{Files: []ReadFile{{CountsInFile: inFile}}}, sorted)
		if diff := cmp.Diff(ReadFile{Name: "a.csv", Videos: 2, CountsInFile: inFile}, report.Files[0]); report.CountsFrom != want || diff != "" {
			t.Errorf("with %d times in the file: got %q, want %q; file, -want +got:\n%s", inFile, report.CountsFrom, want, diff)
		}
	}
}
