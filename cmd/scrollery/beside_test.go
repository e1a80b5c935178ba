package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestCommandsBesideABusyServer runs operators' commands, one after another, beside a server
// that reads, writes and scrolls: no call and no command fails, and no scroll. On SQLite it also
// looks into the file with sqlite3, if that is installed. SCROLLERY_TEST_LONG=1 does so for a
// minute.
func TestCommandsBesideABusyServer(t *testing.T) {
	t.Parallel()
	lasts := 4 * time.Second
	if storetest.Long() {
		lasts = time.Minute
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		b := &beside{chaos: newChaosWith(t, "", besideConfig)}
		b.run(t, lasts, append(b.commands(), b.sqliteShell()...))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		b := &beside{chaos: newChaosWith(t, apptest.ScratchPostgres(t), besideConfig)}
		b.run(t, lasts, b.commands())
	})
}

// besideConfig has calls wait where the machine is busy, in place of a refusal.
const besideConfig = chaosConfig + "protocols: {max_wait: 10s}\n"

// beside is a busy server. It counts what it is asked.
type beside struct {
	*chaos
	calls, failed, rounds, scrolls atomic.Int64
}

// aside is a command beside the server.
type aside struct {
	name string
	run  func(ctx context.Context) ([]byte, error)
	// want is a part of what it prints.
	want string
}

func (b *beside) commands() []aside {
	dir, n := filepath.Join(b.dir, "backups"), 0
	run := func(args ...string) func(ctx context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) {
			command := program(ctx, b.dir, args...)
			command.Env = append(command.Env, b.env...)
			return command.CombinedOutput()
		}
	}
	return []aside{
		{"create a key", run("admin", "keys", "create", "--email", "beside@example.com", "--plan", "standard"), "_"},
		{"list keys", run("admin", "keys", "list", "--email", "chaos@example.com"), "key_"},
		{"migrate", run("migrate"), ""},
		{"back up", func(ctx context.Context) ([]byte, error) {
			n++
			return run("admin", "backup", fmt.Sprint(dir, n))(ctx)
		}, ""},
	}
}

// sqliteShell is the shell of SQLite; nothing where it is not installed.
func (b *beside) sqliteShell() []aside {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		return nil
	}
	return []aside{{"sqlite3", func(ctx context.Context) ([]byte, error) {
		return exec.CommandContext(ctx, shell, filepath.Join(b.dir, "scrollery.db"), "pragma quick_check").CombinedOutput()
	}, "ok"}}
}

func (b *beside) run(t *testing.T, lasts time.Duration, commands []aside) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			b.repeat(ctx, t, func(n int) (method, path, body string) {
				return "PUT", "/v1/rules", fmt.Sprintf(`{"text":"- no giveaways\n- no %d of %d"}`, n, worker)
			})
		})
		all.Go(func() {
			b.repeat(ctx, t, func(n int) (method, path, body string) {
				return "GET", []string{"/v1/hooks", "/v1/outliers", "/v1/trends", "/v1/usage", "/v1/rules", "/v1/events"}[n%6], ""
			})
		})
	}
	all.Go(func() { b.scroll(ctx, t) })
	for end := time.Now().Add(lasts); time.Now().Before(end); b.rounds.Add(1) {
		for _, command := range commands {
			if out, err := command.run(t.Context()); err != nil || !strings.Contains(string(out), command.want) {
				t.Errorf("%s: %v, printed %q, want %q in it", command.name, err, out, command.want)
			}
		}
		b.ready(t)
	}
	cancel()
	all.Wait()
	t.Logf("in %v: %d calls, %d of them failed, %d scrolls, beside %d rounds of %d commands",
		lasts, b.calls.Load(), b.failed.Load(), b.scrolls.Load(), b.rounds.Load(), len(commands))
	if b.calls.Load() < 20 || b.scrolls.Load() == 0 {
		t.Errorf("got %d calls and %d scrolls, want a busy server", b.calls.Load(), b.scrolls.Load())
	}
	if said := b.stderr.String(); strings.Contains(said, "level=ERROR") || strings.Contains(said, "job failed") {
		t.Errorf("the server has logged errors: %s", said)
	}
}

// repeat calls until ctx ends; the last call is completed.
func (b *beside) repeat(ctx context.Context, t *testing.T, next func(n int) (method, path, body string)) {
	for n := 0; ctx.Err() == nil; n++ {
		method, path, body := next(n)
		b.calls.Add(1)
		if err := b.call(t.Context(), method, path, body, nil); err != nil {
			b.failed.Add(1)
			t.Error(err)
			return
		}
	}
}

// scroll runs one scroll after another, at least one.
func (b *beside) scroll(ctx context.Context, t *testing.T) {
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		var started struct{ Scroll apptest.Scroll }
		if err := b.call(t.Context(), "POST", "/v1/scrolls", fmt.Sprintf(`{"idempotencyKey":"beside-%d"}`, n), &started); err != nil {
			t.Error(err)
			return
		}
		for deadline := time.Now().Add(2 * time.Minute); started.Scroll.Status != "completed"; time.Sleep(20 * time.Millisecond) {
			err := b.call(t.Context(), "GET", "/v1/scrolls?id="+started.Scroll.ID, "", &started)
			if err != nil || started.Scroll.Status == "failed" || time.Now().After(deadline) {
				t.Errorf("scroll %d: %s (%v), want completed within 2 minutes", n, started.Scroll.Status, err)
				return
			}
		}
		b.scrolls.Add(1)
	}
}

// ready asks the operations port whether the server is well, again where a busy machine
// had no time for the answer.
func (b *beside) ready(t *testing.T) {
	t.Helper()
	for try := 1; ; try++ {
		response, err := b.client.Get(b.ops + "/readyz")
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Error(err)
			return
		}
		if response.StatusCode == http.StatusOK {
			return
		}
		late := bytes.Contains(text, []byte("no answer within")) || bytes.Contains(text, []byte("deadline exceeded"))
		if !late || try == 5 {
			t.Errorf("/readyz, asked %d times: %s %s, want 200", try, response.Status, text)
			return
		}
	}
}
