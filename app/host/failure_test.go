package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCrash(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	records, err := b.probe(t.Context(), "probe", "crash")
	failure := wantFailure(t, err, stage.StageCrashed)
	if !failure.Retry || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %+v, want another try, and exit status 3 in the error", failure)
	}
	if n := len(records); n%50 != 0 || n > 100 {
		t.Errorf("%d records before the crash, want whole batches", n)
	}
	_, err = b.probe(t.Context(), "probe", "gopanic")
	if wantFailure(t, err, stage.StageCrashed); !strings.Contains(err.Error(), "probe_test.go") {
		t.Errorf(`no stack in %v, want with "probe_test.go"`, err)
	}
}

func TestKilledPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "wait"}}, func(batch []stage.Record) error {
		return syscall.Kill(pid(t, batch[0], b.scratch), syscall.SIGKILL)
	})
	if wantFailure(t, err, stage.StageCrashed); !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
}

// pid is the process id of a plugin that says its own one, of its box. mark is of its
// environment.
func pid(t *testing.T, r stage.Record, mark string) int {
	t.Helper()
	own := "\t" + found(t, r)
	for _, pid := range processes(mark) {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		_, rest, _ := strings.Cut(string(status), "\nNSpid:")
		if line, _, _ := strings.Cut(rest, "\n"); strings.HasSuffix(line, own) {
			return pid
		}
	}
	t.Fatalf("got no process with the id%s in its box, want one of %v", own, processes(mark))
	return 0
}

// processes are those with a text in their environment.
func processes(mark string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		if raw, err := os.ReadFile(path + "/environ"); err == nil && strings.Contains(string(raw), mark) {
			pid, _ := strconv.Atoi(filepath.Base(path))
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestHang(t *testing.T) {
	t.Parallel()
	withMore(t, 300*time.Millisecond, func(stall time.Duration) error {
		b := setup(t, func(c *host.Config) { c.Stall = stall })
		began := time.Now()
		records, err := b.probe(t.Context(), "probe", "hang")
		wantFailure(t, err, stage.StageTimeout)
		if took, most := time.Since(began), stall+3*time.Second; len(records) != 50 || took > most {
			return fmt.Errorf("a hung stage was ended after %v with %d records, want at most %v and 50", took, len(records), most)
		}
		records, err = b.probe(t.Context(), "probe", fmt.Sprintf("busyhang:%v", stall/3))
		if err != nil || len(records) != 1 || found(t, records[0]) != "alive" {
			return fmt.Errorf("progress does not keep a call alive: %d records, %w, want one that says alive", len(records), err)
		}
		return nil
	})
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Call = 300 * time.Millisecond })
	_, err := b.probe(t.Context(), "probe", "hang")
	wantFailure(t, err, stage.StageTimeout)
}

func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	withMore(t, 200*time.Millisecond, func(stall time.Duration) error {
		b := setup(t, func(c *host.Config) { c.Stall = stall })
		n := 0
		_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "many:20000"}}, func(batch []stage.Record) error {
			if n == 0 {
				// The consumer itself is what is under test: it takes longer than a stage may.
				time.Sleep(stall * 5 / 2)
			}
			n += len(batch)
			return nil
		})
		if err != nil || n != 20000 {
			return fmt.Errorf("got %d records, %w, want 20000 and no error", n, err)
		}
		return nil
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	plugin := 0
	within(t, 40*time.Second, "a cancelled call", func() {
		_, err := b.Collect(ctx, "probe", stage.Run{}, []stage.Seed{{Term: "wait"}}, func(batch []stage.Record) error {
			plugin = pid(t, batch[0], b.scratch)
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want the context's", err)
		}
	})
	if err := syscall.Kill(plugin, 0); err == nil {
		t.Error("the plugin is still there, want an error")
	}
	if _, err := b.probe(ctx, "probe", "many:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's", err)
	}
}

func TestChildrenDieWithTheCall(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if _, err := b.probe(t.Context(), "probe", "child"); err != nil {
		t.Fatal(err)
	}
	gone(t, b.scratch)

	// One that crashes leaves its children behind. A host that stalls until the crash may see
	// that alone.
	var child int
	for try := 0; try < 3 && child == 0; try++ {
		_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "orphan"}}, func(batch []stage.Record) error {
			child = pid(t, batch[0], b.scratch)
			gone(t, b.scratch)
			return nil
		})
		wantFailure(t, err, stage.StageCrashed)
	}
	if child == 0 {
		t.Errorf("there was no child: got %v, want child not 0", child)
	}
}

// deadline is shortly before the test's own.
func deadline(t *testing.T) time.Time {
	t.Helper()
	if end, limited := t.Deadline(); limited {
		return end.Add(-15 * time.Second)
	}
	return time.Now().Add(time.Hour)
}

// gone waits for the end of processes that are not ours to wait for.
func gone(t *testing.T, mark string) {
	t.Helper()
	var left []int
	for end := deadline(t); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if left = processes(mark); len(left) == 0 {
			return
		}
	}
	t.Errorf("got the processes %d, want none", left)
}

func TestPluginDiesWithItsHost(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		lonely(t, exec.Command(os.Args[0], "host"), t.TempDir())
	})
	t.Run("upgraded", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		install(t, dir, "old")
		lonely(t, exec.Command(dir+"/old", "host"), t.TempDir(), "gone")
	})
}

func lonely(t *testing.T, host *exec.Cmd, args ...string) {
	t.Helper()
	host.Args = append(host.Args, args...)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "{") {
		t.Fatalf(`%s %v, want no error and line starting with "{"`, line, err)
	}
	_ = pid(t, stage.Record{Metadata: []byte(line)}, args[0])
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	gone(t, args[0])
}

func TestHandshakes(t *testing.T) {
	t.Parallel()
	// Those that end by themselves get time for it, however busy the machine is.
	short := setup(t, func(c *host.Config) { c.Start = 700 * time.Millisecond })
	long := setup(t, func(c *host.Config) { c.Start = time.Minute })
	for id, want := range map[string]stage.Failure{
		"noise": stage.StageProtocol, "mute": stage.StageTimeout, "silent": stage.StageTimeout, "elsewhere": stage.StageProtocol, "dead": stage.StageCrashed,
	} {
		t.Run(id+" is "+string(want), func(t *testing.T) {
			b := long
			if want == stage.StageTimeout {
				b = short
			}
			_, err := b.probe(t.Context(), id, "many:1")
			wantFailure(t, err, want)
			if id == "dead" && !strings.Contains(err.Error(), "no libfoo.so.1") {
				t.Errorf("got %v, want the last words of the process, no libfoo.so.1", err)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	withMore(t, 400*time.Millisecond, func(coolDown time.Duration) error { return breaks(t, coolDown) })
}

// breaks crashes a plugin until it rests. Its error says that the rest may have ended before
// it was looked at.
func breaks(t *testing.T, coolDown time.Duration) error {
	t.Helper()
	b := setup(t, func(c *host.Config) { c.CoolDown = coolDown })
	state := func() host.Plugin {
		for _, p := range b.List() {
			if p.ID == "probe" {
				return p
			}
		}
		return host.Plugin{}
	}
	for range 2 {
		_, _ = b.probe(t.Context(), "probe", "crash")
	}
	if _, err := b.probe(t.Context(), "probe", "many:1"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if p := state(); p.State != host.Ready {
			t.Fatalf("rests too early: %+v, want %v", p, host.Ready)
		}
		_, err := b.probe(t.Context(), "probe", "crash")
		wantFailure(t, err, stage.StageCrashed)
	}
	if p := state(); p.State != host.Resting || !strings.Contains(p.Reason, "3 times") || !time.Now().Before(p.Until) {
		return fmt.Errorf("got %+v, want it %v because it failed 3 times", p, host.Resting)
	}
	_, err := b.probe(t.Context(), "probe", "many:1")
	var failure *stage.CallError
	if !errors.As(err, &failure) || failure.Failure != stage.StageCrashed || failure.RetryAt == nil || !strings.Contains(err.Error(), "rests until 2") {
		return fmt.Errorf("a call while it rests: got %w, want %s with a time for another try, in words too", err, stage.StageCrashed)
	}
	time.Sleep(time.Until(time.UnixMilli(*failure.RetryAt).Add(time.Millisecond)))
	if _, err := b.probe(t.Context(), "probe", "many:1"); err != nil {
		t.Errorf("after the rest: %v", err)
	}
	return nil
}

func TestUnknownPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.probe(t.Context(), "unknown", "many:1")
	wantFailure(t, err, stage.StageProtocol)
	_, err = b.Screen(t.Context(), "probe", stage.Run{}, input(1, 1), nil)
	wantFailure(t, err, stage.StageProtocol)
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Memory = 256 << 20 })
	_, err := b.probe(t.Context(), "probe", "memory")
	if wantFailure(t, err, stage.StageCrashed); !strings.Contains(err.Error(), "memory") {
		t.Error(err)
	}
}

func TestClosedHost(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "wait"}}, func([]stage.Record) error { return b.Close() })
	wantFailure(t, err, stage.StageCrashed)
	_, err = b.probe(t.Context(), "probe", "many:1")
	wantFailure(t, err, stage.StageCrashed)
	if left, _ := filepath.Glob(b.scratch + "/*"); len(left) > 0 {
		t.Errorf("left: %v, want none", left)
	}
}
