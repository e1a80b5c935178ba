package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/app"
)

func TestTheFileChangesWhatItNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := "scrolls:\n  templates:\n    default: {sources: [feed], screens: [rules], evidence: [captions, loud]}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	unset := func(string) (string, bool) { return "", false }
	cfg, err := app.Load(unset, map[string]string{"config": path, "data-dir": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Scrolls.Templates["default"].Evidence; len(got) != 2 {
		t.Errorf("default has evidence %q", got)
	}
	for _, name := range []string{"competitors", "niche", "own", "import"} {
		if _, ok := cfg.Scrolls.Templates[name]; !ok {
			t.Errorf("template %s is gone", name)
		}
	}
	if len(cfg.Scrolls.Deadlines) == 0 {
		t.Error("the deadlines are gone")
	}
}
