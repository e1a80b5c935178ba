package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/fault"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/viewer"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	cfg := sandbox.Defaults()
	cfg.Dir = t.TempDir()
	s, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := viewer.As(context.Background(), 7)
	if err := s.WriteFile(ctx, "a/b.js", "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile(viewer.As(ctx, 8), "a/b.js", "2"); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cfg.Dir, "*", "files", "a", "b.js"))
	if err != nil || len(found) != 2 {
		t.Fatal("not a folder an account:", found, err)
	}
	if text, err := os.ReadFile(found[0]); err != nil || string(text) != "1" {
		t.Errorf("the file of the first is %q, %v", text, err)
	}
	for _, c := range []struct{ path, data, want string }{
		{"../x", "", "[path]"},
		{"a", "", "[path]"},
		{"x", strings.Repeat("x", 1<<20), "[]"},
		{"x", strings.Repeat("x", 1<<20+1), "[data]"},
		{"/x", strings.Repeat("ü", 1<<19) + "x", "[path data]"},
	} {
		err := s.WriteFile(ctx, c.path, c.data)
		paths := []string{}
		if f := fault.As(err); f != nil && f.Kind == fault.InvalidRequest {
			for _, issue := range f.Issues {
				paths = append(paths, issue.Path)
			}
		} else if err != nil {
			t.Error(err)
		}
		if fmt.Sprint(paths) != c.want {
			t.Errorf("%.10s: %v, want %s", c.path, paths, c.want)
		}
	}
	if err := s.WriteFile(context.Background(), "x", ""); err == nil || fault.As(err) != nil {
		t.Errorf("nobody wrote: %v", err)
	}
	if err := s.WriteFile(viewer.System(ctx), "x", ""); err == nil {
		t.Error("the system has no sandbox")
	}
}
