package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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
		{"each time", "failed", 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chaos := newChaos(t, "")
			var started struct{ Scroll apptest.Scroll }
			chaos.mustCall(t, "POST", "/v1/scrolls", `{}`, &started)
			killed := map[int]bool{}
			deadline := time.Now().Add(time.Minute)
			for ; len(killed) < c.kills && time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
				for _, pid := range pluginsOf(t, chaos.server.Process.Pid, "feed") {
					if !killed[pid] && syscall.Kill(pid, syscall.SIGKILL) == nil {
						killed[pid] = true
					}
				}
			}
			ended := chaos.await(t, started.Scroll.ID)
			if ended.Status != c.status || ended.Progress.DispatchAttempts != c.attempts {
				t.Fatalf("ended %s after %d starts: %+v\n%s", ended.Status, ended.Progress.DispatchAttempts, ended, chaos.stderr)
			}
			if c.status == "failed" && (ended.FailureCode == nil || *ended.FailureCode != "stage_crashed") {
				t.Errorf("failure code %v", ended.FailureCode)
			}
			if c.status == "completed" && ended.ResultCounts.Videos != chaosVideos {
				t.Errorf("%d videos, want %d", ended.ResultCounts.Videos, chaosVideos)
			}
		})
	}
}

// pluginsOf finds the running processes of a plugin below a server.
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
		if len(words) > 2 && words[len(words)-2] == "plugin" && words[len(words)-1] == plugin && parent(parent(pid)) == server { // the launcher is between them
			found = append(found, pid)
		}
	}
	return found
}
