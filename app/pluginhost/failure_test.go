package pluginhost_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/pluginhost"
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
	b := setup(t, func(c *pluginhost.Config) { c.Stall = 300 * time.Millisecond })
	within(t, 3*time.Second, "ending a hung stage", func() {
		records, err := b.probe(t.Context(), "probe", "hang")
		if wantFailure(t, err, stage.StageTimeout); len(records) != 50 {
			t.Errorf("%d records, want 50", len(records))
		}
	})
	if text := b.found(t, "probe", "busyhang"); text != "alive" {
		t.Errorf(`progress does not keep a call alive: %s, want "alive"`, text)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pluginhost.Config) { c.Call = 300 * time.Millisecond })
	_, err := b.probe(t.Context(), "probe", "hang")
	wantFailure(t, err, stage.StageTimeout)
}

func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pluginhost.Config) { c.Stall = 200 * time.Millisecond })
	n := 0
	_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "many:20000"}}, func(batch []stage.Record) error {
		if n == 0 {
			// The consumer itself is what is under test: it takes longer than a stage may.
			time.Sleep(500 * time.Millisecond)
		}
		n += len(batch)
		return nil
	})
	if err != nil || n != 20000 {
		t.Errorf("got %d records, %v, want 20000 and no error", n, err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	plugin := 0
	within(t, 5*time.Second, "a cancelled call", func() {
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

	// One that crashes leaves its children behind.
	var child int
	_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "orphan"}}, func(batch []stage.Record) error {
		child = pid(t, batch[0], b.scratch)
		gone(t, b.scratch)
		return nil
	})
	wantFailure(t, err, stage.StageCrashed)
	if child == 0 {
		t.Errorf("there was no child: got %v, want child not 0", child)
	}
}

// gone waits for the end of processes that are not ours to wait for.
func gone(t *testing.T, mark string) {
	t.Helper()
	var left []int
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if left = processes(mark); len(left) == 0 {
			return
		}
	}
	t.Errorf("got the processes %d after 5 s, want none", left)
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
	b := setup(t, func(c *pluginhost.Config) { c.Start = 700 * time.Millisecond })
	for id, want := range map[string]stage.Failure{
		"noise": stage.StageProtocol, "mute": stage.StageTimeout, "silent": stage.StageTimeout, "elsewhere": stage.StageProtocol, "dead": stage.StageCrashed,
	} {
		t.Run(id+" is "+string(want), func(t *testing.T) {
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
	b := setup(t, func(c *pluginhost.Config) { c.CoolDown = 400 * time.Millisecond })
	state := func() pluginhost.Plugin {
		for _, p := range b.List() {
			if p.ID == "probe" {
				return p
			}
		}
		return pluginhost.Plugin{}
	}
	for range 2 {
		_, _ = b.probe(t.Context(), "probe", "crash")
	}
	if _, err := b.probe(t.Context(), "probe", "many:1"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if p := state(); p.State != pluginhost.Ready {
			t.Fatalf("rests too early: %+v, want %v", p, pluginhost.Ready)
		}
		_, err := b.probe(t.Context(), "probe", "crash")
		wantFailure(t, err, stage.StageCrashed)
	}
	if p := state(); p.State != pluginhost.Resting || !strings.Contains(p.Reason, "3 times") {
		t.Fatalf(`does not rest: %+v, want State %v and Reason with "3 times"`, p, pluginhost.Resting)
	}
	_, err := b.probe(t.Context(), "probe", "many:1")
	failure := wantFailure(t, err, stage.StageCrashed)
	if failure.RetryAt == nil {
		t.Fatalf("no retryAt: got %v, want RetryAt not nil", failure.RetryAt)
	}
	time.Sleep(time.Until(time.UnixMilli(*failure.RetryAt).Add(time.Millisecond)))
	if _, err := b.probe(t.Context(), "probe", "many:1"); err != nil {
		t.Errorf("after the rest: %v", err)
	}
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
	b := setup(t, func(c *pluginhost.Config) { c.Memory = 256 << 20 })
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
