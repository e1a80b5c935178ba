package turns

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asChild makes the test binary print the turns of its threads, in order: before a change,
// the ones of all threads after [Short], the longest of them, and after [Usual].
const asChild = "SCROLLERY_TEST_TURNS"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	out := []string{turn(0).String()}
	if err := Short(); err != nil {
		panic(err)
	}
	for range 20 { // threads of their own, started after it
		go func() { runtime.LockOSThread(); select {} }()
	}
	longest := time.Duration(0)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		panic(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			panic(err)
		}
		longest = max(longest, turn(id))
	}
	out = append(out, longest.String())
	if err := Usual(); err != nil {
		panic(err)
	}
	os.Stdout.WriteString(strings.Join(append(out, turn(0).String()), " "))
	os.Exit(0)
}

// turn is the length of a thread's turns, zero where the system does not tell.
func turn(thread int) time.Duration {
	attributes, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		panic(err)
	}
	return time.Duration(attributes.Runtime)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	if turn(0) == 0 {
		t.Skip("the length of turns cannot be set before Linux 6.12")
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asChild+"=1")
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatalf("the process: got %v, want no error", err)
	}
	got := strings.Fields(string(out))
	if len(got) != 3 {
		t.Fatalf("the process: got %q, want three durations", out)
	}
	before, during, after := got[0], got[1], got[2]
	if during != short.String() {
		t.Errorf("the longest turn of all threads: got %s, want %s", during, short)
	}
	if before == during || after != before {
		t.Errorf("the usual turns: got %s at first and %s in the end, want the same, longer than %s", before, after, during)
	}
}

// niceness is that of the calling thread.
func niceness(t *testing.T) int {
	t.Helper()
	rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatalf("niceness: got %v, want no error", err)
	}
	return 20 - rank
}

func TestAside(t *testing.T) { // not in parallel: it counts threads
	before := niceness(t)
	want := min(before+behind, 19)
	seen := map[int]bool{}
	for range 3 {
		Aside(func() {
			seen[unix.Gettid()] = true
			if got := niceness(t); got != want {
				t.Errorf("niceness of the work: got %d, want %d", got, want)
			}
		})
	}
	if len(seen) != 1 {
		t.Errorf("threads for tasks one after the other: got %d, want 1", len(seen))
	}
	if got := niceness(t); got != before {
		t.Errorf("niceness of the caller afterwards: got %d, want %d", got, before)
	}
}

// TestAsideTogether: no task waits for another, and a thread that was used is used again by
// one task at a time.
func TestAsideTogether(t *testing.T) {
	t.Parallel()
	for range 2 {
		var all, met sync.WaitGroup
		met.Add(4)
		for range 4 {
			all.Go(func() {
				Aside(func() {
					met.Done()
					met.Wait() // for the other three, which run at the same time
				})
			})
		}
		all.Wait()
	}
}

// TestAsideEnds: work that ends its goroutine, as a test's does that fails, is over.
func TestAsideEnds(t *testing.T) {
	t.Parallel()
	Aside(runtime.Goexit)
	worked := false
	Aside(func() { worked = true })
	if !worked {
		t.Error("the task after it was not done")
	}
}
