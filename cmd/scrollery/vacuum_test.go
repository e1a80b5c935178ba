package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVacuumRemovesOldTexts: it refuses beside a server, and afterwards no deleted text is in any
// file of the database, which serves what was left.
func TestVacuumRemovesOldTexts(t *testing.T) {
	t.Parallel()
	c := newChaos(t, "")
	const canary = "zwitscherndes-faultier"
	lines := filepath.Join(t.TempDir(), "videos.jsonl")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, `{"platform":"tiktok","externalId":"v%d","source":{"handle":"moka"},"metadata":{"caption":"%s %d"},"metrics":{"views":100,"observedAt":1760000000000}}`+"\n", i, canary, i)
	}
	if err := os.WriteFile(lines, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c.mustRun(t, exitDone, "admin", "import", "--email", "chaos@example.com", lines)
	c.mustRun(t, exitDone, "admin", "creators", "erase", "tiktok", "@moka", "--reason", "a test")
	if got := c.mustRun(t, exitFailed, "admin", "vacuum"); !strings.Contains(got.stderr, "stop it first") {
		t.Errorf("beside a server: got %s", got.stderr)
	}
	c.kill()
	if got := c.mustRun(t, exitDone, "admin", "vacuum"); !strings.Contains(got.stdout, "scrollery.db: ") {
		t.Errorf("got %q, want the sizes", got.stdout)
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "scrollery.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got files %v, error %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || bytes.Contains(content, []byte(canary)) {
			t.Errorf("%s: error %v, or it has a deleted text still", file, err)
		}
	}
	c.start(t)
	c.mustCall(t, "GET", "/v1/workspace", "", nil)
}
