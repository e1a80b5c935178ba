package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestServerStopsWhenTold sends SIGTERM in the middle of a scroll: the server
// exits 0, and the next one goes on with the scroll as if nothing had been.
func TestServerStopsWhenTold(t *testing.T) {
	t.Parallel()
	c := newChaos(t, "")
	var started struct{ Scroll apptest.Scroll }
	c.mustCall(t, "POST", "/v1/scrolls", `{}`, &started)
	c.waitFor(t, started.Scroll.ID, "collect")
	began := time.Now()
	if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.server.Wait(); err != nil {
		t.Errorf("the server ended with %v: %s", err, c.stderr)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("it took %v, want at most %v", took, 25*time.Second)
	}
	c.start(t)
	if ended := c.await(t, started.Scroll.ID); ended.Status != "completed" || ended.ResultCounts.Videos != chaosVideos {
		t.Errorf(`the scroll ended %s, want Status "completed" and Videos %v: %+v`, ended.Status, chaosVideos, ended)
	}
}

// TestCommandsWorkBesideAServer makes the commands' changes while a server runs.
func TestCommandsWorkBesideAServer(t *testing.T) {
	t.Parallel()
	c := newChaos(t, "")
	files := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(files, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := put("more.jsonl", `{"platform":"tiktok","externalId":"j1","metrics":{"views":10}}`+"\nbroken\n"+`{"platform":"tiktok","externalId":"j2"}`+"\n")
	table := put("table.csv", "video,seen\nAAAAAAAAt01,500\nAAAAAAAAt02,700\nAAAAAAAAt01,900\n")
	put("feed.map.json", `{"columns":{"externalId":"video","views":"seen"},"constants":{"platform":"youtube"}}`)

	got := c.command(t, "admin", "import", "--email", "chaos@example.com", lines, table)
	if got.code != exitDone || !strings.Contains(got.stdout, "4 new") || !strings.Contains(got.stdout, "skipped 1: malformed, first in line 2") {
		t.Errorf(`import: exit %d: %s%s, want code %v, stdout with "4 new" and stdout with "skipped 1: malformed, first in line 2"`, got.code, got.stdout, got.stderr, exitDone)
	}
	if got = c.command(t, "admin", "import", "--email", "chaos@example.com", lines); !strings.Contains(got.stdout, "0 new, 0 seen again, 2 already there") {
		t.Errorf(`import again: exit %d: %s%s, want with "0 new, 0 seen again, 2 already there"`, got.code, got.stdout, got.stderr)
	}
	if videos := c.countVideos(t); videos != 4 {
		t.Errorf("the server shows %d videos, want 4", videos)
	}

	secret := strings.TrimSpace(c.command(t, "keys", "create", "--email", "chaos@example.com", "--plan", "pro", "--scopes", "usage:read").stdout)
	var id string
	for _, line := range strings.Split(c.command(t, "keys", "list", "--email", "chaos@example.com").stdout, "\n") {
		if fields := strings.Fields(line); strings.HasSuffix(line, "usage:read") && !strings.Contains(line, "library") {
			id = fields[0]
		}
	}
	status := func() string {
		key := c.key
		defer func() { c.key = key }()
		c.key = secret
		if err := c.call(t.Context(), "GET", "/v1/usage", "", &json.RawMessage{}); err != nil {
			return err.Error()
		}
		return ""
	}
	if refused := status(); refused != "" {
		t.Errorf("the new key: %s, want empty", refused)
	}
	if got = c.command(t, "keys", "revoke", id); got.code != exitDone {
		t.Errorf("revoke %q: exit %d, want %v: %s", id, got.code, exitDone, got.stderr)
	}
	soon(t, "the key is revoked", func() bool { return strings.Contains(status(), "401") })
}

// soon waits for what another process changed of who is admitted: within a second every
// process knows. So a look that begins later must find it.
func soon(t *testing.T, what string, found func() bool) {
	t.Helper()
	for changed := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		late := time.Since(changed) > time.Second
		if found() {
			return
		}
		if late {
			t.Fatalf("%s: not seen after a second", what)
		}
	}
}
