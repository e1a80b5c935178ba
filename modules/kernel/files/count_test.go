package files_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

// TestMain is a process that writes until it is killed, too.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FOLDER_TEST_WRITES_IN"); dir != "" {
		f, err := files.Open(dir, churned, false)
		if err != nil {
			panic(err)
		}
		churn(f, 5)
		fmt.Println("begun")
		churn(f, -1)
	}
	os.Exit(m.Run())
}

var churned = files.Limits{File: 1000, Total: 20_000, Entries: 60}

// churn writes and deletes files at random, n times or for ever.
func churn(f *files.Folder, n int) {
	for ; n != 0; n-- {
		name := fmt.Sprintf("d%d/e%d/f%d", rand.IntN(3), rand.IntN(3), rand.IntN(6))
		if rand.IntN(3) == 0 {
			_ = f.Remove(name)
		} else {
			_ = f.Write(name, strings.Repeat("x", rand.IntN(1000)))
		}
	}
}

// wantTrue fills the folder up, byte by byte and entry by entry, and compares what
// went in with what lies there: nothing may be lost, and nothing be there twice.
func wantTrue(t *testing.T, dir string, limits files.Limits) {
	t.Helper()
	f, err := files.Open(dir, limits, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	used, entries := measure(t, dir)
	if used > limits.Total || entries > limits.Entries {
		t.Fatalf("%d bytes in %d entries are beyond %+v, want used at most %v and entries at most %v", used, entries, limits, limits.Total, limits.Entries)
	}
	for size := limits.File; size > 0; size /= 2 {
		for n := 0; f.Write(fmt.Sprintf("fill%d-%d", size, n), strings.Repeat("x", int(size))) == nil; n++ {
			if n > limits.Entries {
				t.Fatalf("no end: got %v, want at most %v", n, limits.Entries)
			}
		}
	}
	used, entries = measure(t, dir)
	if used > limits.Total || entries > limits.Entries || used < limits.Total && entries < limits.Entries {
		t.Errorf("got %d bytes in %d entries, want one of the limits %+v reached and none passed", used, entries, limits)
	}
}

// measure counts the files without the package.
func measure(t *testing.T, dir string) (used int64, entries int) {
	t.Helper()
	err := filepath.Walk(filepath.Join(dir, "files"), func(path string, info os.FileInfo, err error) error {
		if err == nil && path != filepath.Join(dir, "files") {
			entries++
			if info.Mode().IsRegular() {
				used += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return used, entries
}

func TestTheCountIsTrue(t *testing.T) {
	t.Parallel()
	for range 3 {
		f, dir := open(t, churned)
		churn(f, 200)
		wantTrue(t, dir, churned)
	}
}

func TestTheCountIsTrueAfterAKill(t *testing.T) {
	t.Parallel()
	_, dir := open(t, churned)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 25 {
		writer := exec.Command(self)
		writer.Env = append(os.Environ(), "FOLDER_TEST_WRITES_IN="+dir)
		begun, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := begun.Read(make([]byte, 1)); err != nil {
			t.Fatalf("nothing was written: %v", err)
		}
		time.Sleep(rand.N(20 * time.Millisecond)) // any moment of what it writes
		_ = writer.Process.Kill()
		_ = writer.Wait()
		wantTrue(t, dir, churned)
		if err := os.RemoveAll(filepath.Join(dir, "files", "d0")); err != nil { // by other means
			t.Fatal(err)
		}
	}
}

// What others delete frees space at once. What a lost machine left counts for
// nothing, nor does nonsense.
func TestTheCountOfOthersIsNotTaken(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 10, Total: 20, Entries: 3}
	f, dir := open(t, limits)
	for _, name := range []string{"a", "b"} {
		if err := f.Write(name, "0123456789"); err != nil {
			t.Fatal(err)
		}
	}
	var refused *files.Error
	if err := f.Write("c", "1"); !errors.As(err, &refused) {
		t.Fatalf("a write into a full folder: got %v, want a refusal", err)
	}
	if err := os.Remove(filepath.Join(dir, "files", "a")); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("c", "0123456789"); err != nil {
		t.Error("after others deleted:", err)
	}
	now := time.Now().UnixMilli()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	for name, kept := range map[string]string{
		"another boot": fmt.Sprintf("0b7c-other-boot 0 0 %d\n", now),
		"old":          fmt.Sprintf("%s 0 0 %d\n", strings.TrimSpace(string(boot)), now-int64(2*time.Minute/time.Millisecond)),
		"of tomorrow":  fmt.Sprintf("%s 0 0 %d\n", strings.TrimSpace(string(boot)), now+int64(24*time.Hour/time.Millisecond)),
		"nonsense":     strings.Repeat("x", 10_000),
		"cut":          "0b7c",
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(kept), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := f.Write("d", "0123456789"); !errors.As(err, &refused) {
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
}

// full returns a folder with n files.
func full(t testing.TB, n int) *files.Folder {
	t.Helper()
	f, err := files.Open(filepath.Join(t.TempDir(), "account"), files.Defaults(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for i := range n {
		if err := f.Write(fmt.Sprintf("f%d", i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// A write costs the same however much lies there: the best of many into a folder
// of 4,000 files may take three times that into an empty one.
func TestAFullFolderIsNotSlower(t *testing.T) {
	best := func(f *files.Folder) time.Duration {
		var took []time.Duration
		for range 50 {
			began := time.Now()
			if err := f.Write("again", "x"); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		return slices.Min(took)
	}
	floor, crowded := best(full(t, 0)), best(full(t, 4000))
	t.Logf("empty %v, with 4,000 files %v", floor, crowded)
	if crowded > 3*floor {
		t.Errorf("a write takes %v with 4,000 files and %v with none, want at most %v", crowded, floor, 3*floor)
	}
}

// BenchmarkWrite has an empty folder as its floor.
func BenchmarkWrite(b *testing.B) {
	for _, many := range []int{0, 4000} {
		b.Run(fmt.Sprintf("files=%d", many), func(b *testing.B) {
			f := full(b, many)
			for b.Loop() {
				if err := f.Write("again", "x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
