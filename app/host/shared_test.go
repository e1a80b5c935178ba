package host_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// scroll is one call in a session of its own. It returns what the stage saw of earlier
// calls, and the process of the call.
func (b *bundle) scroll(t *testing.T, id string) (notes string, pid int) {
	t.Helper()
	s := b.Session()
	defer s.Close()
	summary, err := s.Screen(t.Context(), "judge", stage.Run{ScrollID: id, Prompt: "traces"},
		func() ([]stage.Record, error) { return nil, io.EOF }, func([]stage.Verdict) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(summary.Notes), s.PID()
}

func TestOneProcessOneScroll(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Together = []string{"guide", "judge", "listener"} })
	const fresh = "[call 1, files 0]"
	first, second := 0, 0
	for id, pid := range map[string]*int{"scr_first": &first, "scr_second": &second} {
		var notes string
		if notes, *pid = b.scroll(t, id); notes != fresh {
			t.Errorf("%s: got notes %s, want %s", id, notes, fresh)
		}
		if line := "scroll=" + id; !strings.Contains(b.log.String(), line) {
			t.Errorf("got no line with %s, want one:\n%s", line, b.log.String())
		}
	}
	if first == second || alive(first) || alive(second) {
		t.Errorf("got process %d alive: %t, process %d alive: %t; want two, neither of which outlives its scroll", first, alive(first), second, alive(second))
	}
}

func TestStopEndsTheSharedProcess(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Together = []string{"judge"} })
	s := b.Session()
	defer s.Close()
	if _, err := s.Screen(t.Context(), "judge", stage.Run{}, input(1, 1), func([]stage.Verdict) error { return nil }); err != nil {
		t.Fatal(err)
	}
	pid, began := s.PID(), time.Now()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took >= host.SessionIdle {
		t.Errorf("the stop took %v, want less than a session's idle time: no one calls the process", took)
	}
	if alive(pid) {
		t.Errorf("got process %d alive after the stop, want it ended", pid)
	}
}

func TestSourceShares(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "feed.txt")
	if err := os.WriteFile(file, []byte("of the operator"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(c *host.Config) {
		c.Together = []string{"probe", "judge"}
		c.Settings = map[string]map[string]string{"probe": {"dir": folder}}
	})
	s := b.Session()
	defer s.Close()
	read := func() (text string, pids [2]int) {
		t.Helper()
		_, err := s.Collect(t.Context(), "probe", stage.Run{ScrollID: "scr_1"}, []stage.Seed{{Term: "read:" + file}}, func(batch []stage.Record) error {
			text = found(t, batch[0])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		pids[0] = s.PID()
		if _, err := s.Screen(t.Context(), "judge", stage.Run{ScrollID: "scr_1"}, input(1, 1), func([]stage.Verdict) error { return nil }); err != nil {
			t.Fatal(err)
		}
		pids[1] = s.PID()
		return text, pids
	}
	text, before := read()
	if before[0] != before[1] || text != "ok"+"of the operator" {
		t.Errorf("got the processes %v and %q, want one process, and ok and the text of the operator", before, text)
	}
	// An operator puts a new folder in the place of the old one.
	if err := errors.Join(os.Rename(folder, folder+"-old"), os.Mkdir(folder, 0o700), os.WriteFile(file, []byte("newer"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if text, after := read(); text != "ok"+"newer" || after[0] == before[0] {
		t.Errorf("after the folder was replaced: read %q in process %d, want %q in another one than %d", text, after[0], "oknewer", before[0])
	}
}

func TestSettingsTellApart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b := setup(t, func(c *host.Config) { c.Together = []string{"probe", "judge"} })
	s := b.Session()
	defer s.Close()
	run := stage.Run{ScrollID: "scr_2", Settings: map[string]map[string]string{"probe": {"dir": folder}}}
	screen := func(run stage.Run) int {
		t.Helper()
		if _, err := s.Screen(t.Context(), "judge", run, input(1, 1), func([]stage.Verdict) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return s.PID()
	}
	first := screen(stage.Run{ScrollID: "scr_2"})
	other := screen(run)
	if other == first {
		t.Errorf("a call that may read a folder: got process %v, want another one than %v, which may not", other, first)
	}
	if again := screen(run); again != other {
		t.Errorf("with the same settings: got process %d, want %d", again, other)
	}
	if third := screen(stage.Run{ScrollID: "scr_2"}); third == other {
		t.Errorf("a call that may read nothing: got process %v, want another one than %v, which reads a folder", third, other)
	}
	await(t, func() bool { return !alive(first) && !alive(other) })
}
