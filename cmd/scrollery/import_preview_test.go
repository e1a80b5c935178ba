package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/operator"
)

// TestDryRunStoresNothing: a preview needs no account and no database.
func TestDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines strings.Builder
	for range 12 {
		lines.WriteString(`{"platform":"tiktok","externalId":"7","postedAt":1772359200000,"source":{"handle":"maya"},"metadata":{"caption":"Slow \u001b[31m bar"},"metrics":{"views":12000,"observedAt":1772445600000}}` + "\n")
	}
	lines.WriteString(`{"stats":{}}` + "\n")
	file := filepath.Join(dir, "some.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, args ...string) string {
		t.Helper()
		command := program(t.Context(), dir, append([]string{"admin", "import", "--dry-run", "some.jsonl"}, args...)...)
		command.Dir = dir
		var stderr strings.Builder
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		return string(out)
	}
	t.Run("as a table", func(t *testing.T) {
		want := "PLATFORM  ID  HANDLE  POSTED             OBSERVED           VIEWS  LIKES  COMMENTS  CAPTION\n" +
			strings.Repeat("tiktok    7   maya    2026-03-01T10:00Z  2026-03-02T10:00Z  12000  -      -         Slow "+plain("\x1b")+"[31m bar\n", 10) +
			"some.jsonl: scrollery; 12 would be read\n" +
			"  found: views 12 of 12, likes 0 of 12, comments 0 of 12, shares 0 of 12, saves 0 of 12, followers 0 of 12, postedAt 12 of 12, handle 12 of 12, sourceUrl 0 of 12\n" +
			"  time of the counts: in the file for 12 of 12\n" +
			"  skipped 1: unknown_format, first in line 13: an object in no known format\nNothing was stored.\n"
		if diff := cmp.Diff(want, run(t)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("as JSON", func(t *testing.T) {
		var got operator.ImportPreview
		if err := json.Unmarshal([]byte(run(t, "--json")), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.First) != operator.PreviewRows || len(got.Files) != 1 || got.Files[0].Read != 12 {
			t.Errorf("got %d rows, %+v; want %d rows of 12", len(got.First), got.Files, operator.PreviewRows)
		}
	})
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v; want the imported one alone", left, err)
	}
}
