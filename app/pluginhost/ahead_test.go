package pluginhost_test

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

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/plugins/stage"
)

// ahead is the process that the host started ahead, another one than those of not.
func ahead(t *testing.T, b *bundle, not ...int) (pid int) {
	t.Helper()
	await(t, func() bool {
		pids := b.Ahead()
		if len(pids) != 1 {
			return false
		}
		pid = pids[0]
		for _, other := range not {
			if pid == other {
				return false
			}
		}
		return true
	})
	return pid
}

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
	b := setup(t, func(c *pluginhost.Config) {
		c.Together, c.Warm = []string{"guide", "judge", "listener"}, time.Millisecond
	})
	if pids := b.Ahead(); len(pids) > 0 {
		t.Errorf("before the first session, %v were started ahead, want none", pids)
	}
	const fresh = "[call 1, files 0]"
	notes, first := b.scroll(t, "scr_first")
	if notes != fresh {
		t.Errorf("the first scroll: got notes %s, want %s", notes, fresh)
	}
	waiting := ahead(t, b, first)
	notes, second := b.scroll(t, "scr_second")
	if second != waiting {
		t.Errorf("the second scroll has process %d, want %d, which waited for it", second, waiting)
	}
	if notes != fresh {
		t.Errorf("the second scroll: got notes %s, want %s", notes, fresh)
	}
	if alive(first) || alive(second) {
		t.Errorf("got process %d alive: %t, process %d alive: %t; want no process to outlive its scroll", first, alive(first), second, alive(second))
	}
	for _, id := range []string{"scr_first", "scr_second"} {
		if line := "scroll=" + id; !strings.Contains(b.log.String(), line) {
			t.Errorf("got no line with %s, want one:\n%s", line, b.log.String())
		}
	}
	ahead(t, b, first, second)
}

func TestDeadOnesAreReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pluginhost.Config) { c.Together, c.Warm = []string{"judge"}, time.Millisecond })
	_, first := b.scroll(t, "scr_1")
	killed := ahead(t, b, first)
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	next := ahead(t, b, first, killed)
	if notes, pid := b.scroll(t, "scr_2"); pid != next || notes != "[call 1, files 0]" {
		t.Errorf("got process %d and notes %s, want %d and a fresh one", pid, notes, next)
	}
}

func TestStopEndsWhatIsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pluginhost.Config) { c.Together, c.Warm = []string{"judge"}, time.Millisecond })
	_, first := b.scroll(t, "scr_1")
	waiting := ahead(t, b, first)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(waiting) {
		t.Errorf("got process %d alive after the stop, want it ended", waiting)
	}
	if pids := b.Ahead(); len(pids) > 0 {
		t.Errorf("after the stop, %v wait, want none", pids)
	}
}

func TestSourceShares(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "feed.txt")
	if err := os.WriteFile(file, []byte("of the operator"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(c *pluginhost.Config) {
		c.Together, c.Warm = []string{"probe", "judge"}, time.Millisecond
		c.Settings = map[string]map[string]string{"probe": {"dir": folder}}
	})
	read := func() (text string, pids [2]int) {
		t.Helper()
		s := b.Session()
		defer s.Close()
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
	text, pids := read()
	if pids[0] != pids[1] || text != "ok"+"of the operator" {
		t.Errorf("got the processes %v and %q, want one process, and ok and the text of the operator", pids, text)
	}
	waiting := ahead(t, b, pids[0])
	// An operator puts a new folder in the place of the old one.
	if err := errors.Join(os.Rename(folder, folder+"-old"), os.Mkdir(folder, 0o700), os.WriteFile(file, []byte("newer"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if text, pids = read(); text != "ok"+"newer" || pids[0] == waiting {
		t.Errorf("after the folder was replaced: read %q in process %d, want %q in another one than %d", text, pids[0], "oknewer", waiting)
	}
}

func TestSettingsTellApart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b := setup(t, func(c *pluginhost.Config) { c.Together, c.Warm = []string{"probe", "judge"}, time.Millisecond })
	_, first := b.scroll(t, "scr_1")
	waiting := ahead(t, b, first)
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
	other := screen(run)
	if other == waiting {
		t.Errorf("a call that may read a folder: got process %v, want another one than %v, which may not", other, waiting)
	}
	if again := screen(run); again != other {
		t.Errorf("with the same settings: got process %d, want %d", again, other)
	}
	if third := screen(stage.Run{ScrollID: "scr_2"}); third == other {
		t.Errorf("a call that may read nothing: got process %v, want another one than %v, which reads a folder", third, other)
	}
	await(t, func() bool { return !alive(waiting) && !alive(other) })
}
