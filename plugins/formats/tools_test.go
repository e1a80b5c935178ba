package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTools reads an invented sample of each known tool; beside it is what should come of it.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, known := range readTools() {
		t.Run(known.Tool, func(t *testing.T) {
			t.Parallel()
			file := toolFile(t, known.Tool)
			text, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".txt")
			if err != nil {
				t.Fatalf("a tool needs a sample: %v", err)
			}
			in, want, _ := strings.Cut(string(text), "-- want --\n")
			recs, report := readText(t, "sample.csv", in)
			if diff := cmp.Diff(want, readAs(t, recs, report)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if form := strings.Join(report.Form, "\n"); !strings.Contains(form, known.Tool+", as of "+known.AsOf) {
				t.Errorf("got the form %q, want that of %s", form, known.Tool)
			}
		})
	}
}

// toolFile is the file of a tool.
func toolFile(t *testing.T, tool string) string {
	t.Helper()
	files, err := filepath.Glob("tools/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"tool": "`+tool+`"`) {
			return file
		}
	}
	t.Fatalf("no file of %s", tool)
	return ""
}
