package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestPluginKilledWhileItCollects kills the feed's process with SIGKILL, in the
// middle of a scroll: the scroll starts again and completes. Killed each time, it
// fails in the end, with stage_crashed, and the server lives on.
func TestPluginKilledWhileItCollects(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found in /proc")
	}
	t.Parallel()
	for _, c := range []struct {
		name, status string
		kills        int
		attempts     int
	}{
		{"once", "completed", 1, 2},
		{"each time", "failed", math.MaxInt, 3}, // those too that are started ahead for the next try
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chaos := newChaos(t, "")
			want := chaosVideos
			for range 20 { // a stage may end between two looks for its process
				result := chaos.scrollUnderKills(t, c.kills)
				if result.Status == "completed" && result.ResultCounts.Videos != want {
					t.Errorf("%d videos, want %d", result.ResultCounts.Videos, want)
				}
				if result.Status == "completed" {
					want = 0
				}
				if result.Status == "completed" && (c.status == "failed" || result.Progress.DispatchAttempts < c.attempts) {
					t.Logf("completed after %d starts: too few kills hit", result.Progress.DispatchAttempts)
					continue
				}
				if result.Status != c.status || result.Progress.DispatchAttempts != c.attempts {
					t.Fatalf("got %s after %d starts, want %s after %d: %+v\n%s", result.Status, result.Progress.DispatchAttempts, c.status, c.attempts, result, chaos.stderr)
				}
				code := ""
				if result.FailureCode != nil {
					code = *result.FailureCode
				}
				if want := map[string]string{"failed": "stage_crashed"}[c.status]; code != want {
					t.Errorf("got the failure code %q, want %q", code, want)
				}
				return
			}
			t.Error("got no scroll whose plugin was killed in time in 20, want one")
		})
	}
}

// scrollUnderKills runs a scroll and kills so many processes of its feed meanwhile.
func (c *chaos) scrollUnderKills(t *testing.T, kills int) apptest.Scroll {
	t.Helper()
	var started struct{ Scroll apptest.Scroll }
	c.mustCall(t, "POST", "/v1/scrolls", `{}`, &started)
	ended, killer := make(chan struct{}), sync.WaitGroup{}
	killer.Go(func() {
		for killed := map[int]bool{}; len(killed) < kills; {
			for _, pid := range pluginsOf(t, c.server.Process.Pid, "feed") {
				if len(killed) < kills && !killed[pid] && syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed[pid] = true
				}
			}
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	result := c.await(t, started.Scroll.ID)
	close(ended)
	killer.Wait()
	return result
}

// pluginsOf finds the running processes below a server that a plugin has, alone or with
// others.
func pluginsOf(t *testing.T, server int, plugin string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	parent := func(pid int) (of int) {
		status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		_, rest, _ := strings.Cut(string(status), "PPid:\t")
		_, _ = fmt.Sscan(rest, &of)
		return of
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		at := slices.Index(words, "plugin")
		if at > 0 && slices.Contains(words[at+1:], plugin) && parent(parent(pid)) == server { // the launcher is between them
			found = append(found, pid)
		}
	}
	return found
}
