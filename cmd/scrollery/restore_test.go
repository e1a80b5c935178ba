package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBackupIsVerifiedAndRestored drives the commands as an operator does.
func TestBackupIsVerifiedAndRestored(t *testing.T) {
	t.Parallel()
	c := newChaos(t, "")
	path := filepath.Join(t.TempDir(), "videos.jsonl")
	line := `{"platform":"tiktok","externalId":"%s","source":{"handle":"moka"},"metadata":{"caption":"cup"},"metrics":{"views":100,"observedAt":1760000000000}}` + "\n"
	if err := os.WriteFile(path, []byte(fmt.Sprintf(line, "one")+fmt.Sprintf(line, "two")), 0o600); err != nil {
		t.Fatal(err)
	}
	c.mustRun(t, exitDone, "admin", "import", "--email", "chaos@example.com", path)
	videos := func() (ids []string, names string) {
		t.Helper()
		var page struct {
			Videos []struct{ ID, ExternalID string }
		}
		c.mustCall(t, "GET", "/v1/library", "", &page)
		for _, v := range page.Videos {
			ids, names = append(ids, v.ID), names+" "+v.ExternalID
		}
		return ids, names
	}
	ids, all := videos()
	if len(ids) != 2 {
		t.Fatalf("got %v, want two videos", all)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	c.mustRun(t, exitDone, "admin", "backup", copied)
	before, err := os.ReadFile(filepath.Join(copied, "scrollery.db"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.mustRun(t, exitDone, "admin", "backup", "verify", copied); !strings.Contains(got.stdout, "videos 2") || !strings.Contains(got.stdout, "The database is whole. version ") {
		t.Errorf("verify: got %q, want two videos in a whole database", got.stdout)
	}
	if after, err := os.ReadFile(filepath.Join(copied, "scrollery.db")); err != nil || string(after) != string(before) {
		t.Errorf("verify changed the copy: %v", err)
	}
	c.mustCall(t, "POST", "/v1/library/delete", fmt.Sprintf(`{"videoId":%q}`, ids[0]), nil)
	_, left := videos()

	refused := func(what string, args ...string) {
		t.Helper()
		if got := c.command(t, append([]string{"admin"}, args...)...); got.code != exitFailed || !strings.Contains(got.stderr, what) {
			t.Errorf("%v: exit %d, %q; want an error with %q", args, got.code, got.stderr, what)
		}
	}
	refused("stop it first", "restore", copied, "--replace")
	refused("no SQLite database", "backup", "verify", t.TempDir())
	c.kill()
	refused("--replace", "restore", copied)
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.CopyFS(damaged, os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	torn := []byte(string(before))
	for i := len(torn) / 3; i < len(torn)/3+20_000; i++ {
		torn[i] ^= 0x55
	}
	if err := os.WriteFile(filepath.Join(damaged, "scrollery.db"), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("damaged", "backup", "verify", damaged)
	refused("damaged", "restore", damaged, "--replace")
	if names, err := filepath.Glob(filepath.Join(c.dir, "before-restore-*")); err != nil || len(names) > 0 {
		t.Errorf("a refused restore moved %v, %v", names, err)
	}

	// Killed at any moment, it is done as a whole or not at all.
	done := 0
	for try := 0; try < 12; try++ {
		command := program(t.Context(), c.dir, "admin", "restore", copied, "--replace")
		command.Env = append(command.Env, c.env...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+15*try) * time.Millisecond)
		_ = command.Process.Kill()
		_ = command.Wait()
		if aside, err := filepath.Glob(filepath.Join(c.dir, "before-restore-*", "scrollery.db")); err == nil {
			done = len(aside)
		}
		if try%4 == 3 {
			c.start(t)
			if _, names := videos(); names != left {
				t.Errorf("after a kill: got%v, want%v", names, left)
			}
			c.kill()
		}
	}
	t.Logf("%d of 12 restores that were killed had begun to move files", done)
	got := c.mustRun(t, exitDone, "admin", "restore", copied, "--replace")
	if !strings.Contains(got.stderr, "before-restore-") || !strings.Contains(got.stderr, "Next: start the server") {
		t.Errorf("got %q, want where the old data is, and what is next", got.stderr)
	}
	c.start(t)
	if _, names := videos(); names != left {
		t.Errorf("after a restore: got%v, want%v", names, left)
	}
	if log := c.stderr.String(); !strings.Contains(log, "log of removals") {
		t.Errorf("the start does not say that it deleted something again: %q", log)
	}
	c.kill()
	empty := &chaos{served: newServed(t, t.TempDir(), "", chaosConfig), key: c.key}
	empty.mustRun(t, exitDone, "admin", "restore", copied)
	empty.start(t)
	var page struct{ Videos []struct{ ID string } }
	empty.mustCall(t, "GET", "/v1/library", "", &page)
	if len(page.Videos) != 2 {
		t.Errorf("on another machine: got %d videos, want 2", len(page.Videos))
	}
}
