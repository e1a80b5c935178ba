package ytdlp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProgramDiesWithTheStage kills a process that has a program run, as the kernel
// kills a stage whose host is gone.
func TestProgramDiesWithTheStage(t *testing.T) {
	if folder := os.Getenv("YTDLP_TEST_STAGE"); folder != "" {
		call := fake(t, "echo $$ > began; mv began pid; exec sleep 600")
		call.Scratch = folder
		tool, err := find(t.Context(), prepared(t, call))
		if err != nil {
			t.Fatal(err)
		}
		t.Fatalf("got a run that ended with %+v, want one that the test's end kills", tool.run(t.Context(), []string{"https://www.tiktok.com/@beans"}, discard))
	}
	t.Parallel()
	folder := t.TempDir()
	process := exec.Command("/proc/self/exe", "-test.run=^TestProgramDiesWithTheStage$")
	process.Env = append(os.Environ(), "YTDLP_TEST_STAGE="+folder, "TMPDIR="+folder)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = process.Wait() }()
	pid := ""
	for end := time.Now().Add(2 * time.Minute); pid == ""; time.Sleep(5 * time.Millisecond) {
		raw, err := os.ReadFile(filepath.Join(folder, "pid"))
		if pid = strings.TrimSpace(string(raw)); err != nil && time.Now().After(end) {
			_ = process.Process.Kill()
			t.Fatal("got no process in 2 min, want one")
		}
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Fatal(err)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		raw, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(raw), ") Z ") {
			return
		}
		if time.Now().After(end) {
			_ = exec.Command("kill", pid).Run()
			t.Fatalf("got process %s alive after 2 min, want it to end with the stage", pid)
		}
	}
}
