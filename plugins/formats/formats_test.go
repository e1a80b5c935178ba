package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// summary says what a report has in it, the way the samples do.
func summary(report Report) string {
	var out strings.Builder
	var names []string
	for name, n := range report.Formats {
		names = append(names, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(names)
	fmt.Fprintf(&out, "%s, doubtful %d\n", strings.Join(names, ", "), report.Doubtful)
	for _, skip := range report.Sorted() {
		fmt.Fprintf(&out, "%s %d at %d\n", skip.Reason, skip.Count, skip.Line)
	}
	return out.String()
}

// TestSamples reads invented files in every format; each holds what should come of it.
func TestSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil || len(files) < 13 {
		t.Fatalf("got %d samples, error %v; want at least 13", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want, _ := strings.Cut(string(text), "-- want --\n")
			for _, name := range []string{"sample.json", "sample"} {
				t.Run(name, func(t *testing.T) {
					recs, report := readText(t, name, in)
					if diff := cmp.Diff(want, readAs(t, recs, report)); diff != "" {
						t.Errorf("as %s (-want +got):\n%s", name, diff)
					}
				})
			}
		})
	}
}

func readAs(t *testing.T, recs []stage.Record, report Report) string {
	t.Helper()
	var out strings.Builder
	for _, rec := range recs {
		out.WriteString(asJSON(t, rec) + "\n")
		if _, err := rec.Clean(); err != nil {
			t.Errorf("the host would refuse %s: %v", rec.ExternalID, err)
		}
	}
	return out.String() + summary(report)
}
