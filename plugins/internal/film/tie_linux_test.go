package film_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestProgramDiesWithTheStage kills a process that has a program run, as the kernel
// kills a stage whose host is gone.
func TestProgramDiesWithTheStage(t *testing.T) {
	if folder := os.Getenv("FILM_TEST_STAGE"); folder != "" {
		_, err := film.RunWithin(t.Context(), &stage.Call{Scratch: folder}, time.Hour, "sh", "-c", "echo $$ > began; mv began pid; exec sleep 600")
		t.Fatal(err)
	}
	t.Parallel()
	folder := t.TempDir()
	process := exec.Command("/proc/self/exe", "-test.run=^TestProgramDiesWithTheStage$")
	process.Env = append(os.Environ(), "FILM_TEST_STAGE="+folder, "TMPDIR="+folder)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = process.Wait() }()
	pid := ""
	for end := time.Now().Add(2 * time.Minute); pid == ""; time.Sleep(5 * time.Millisecond) {
		raw, err := os.ReadFile(filepath.Join(folder, "pid"))
		if pid = strings.TrimSpace(string(raw)); err != nil && time.Now().After(end) {
			_ = process.Process.Kill()
			t.Fatal("nothing began")
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
			t.Fatalf("process %s lives on", pid)
		}
	}
}
