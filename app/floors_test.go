package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
)

// The bars of speed, on two cores of an AMD EPYC, where the loop of pace takes paceNominal;
// a slower machine has as much more time.
const (
	firstReadBar = 400 * time.Microsecond // of processor, as the two below
	repeatedBar  = 200 * time.Microsecond
	withoutLists = 150 * time.Microsecond
	importBar    = time.Second / 3000 // of processor a video
	coldStartBar = 60 * time.Millisecond

	paceNominal = 18 * time.Millisecond
	// missed is how far above a bar a cost may be unless SCROLLERY_BENCH is `strict`: first
	// reads of outliers, calls without lists and a cold start miss theirs by up to a third, and
	// must not get worse.
	missed = 1.75
)

// So many calls are made on each of so many connections.
const floorCalls, floorConns = 100, 16

func measured(t *testing.T) {
	t.Helper()
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	t.Setenv("GOGC", "400") // of server processes, as docs/deploy/scrollery.service has it
}

// cpu is the processor time of this process and those it has waited for.
func cpu() (total time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			panic(err)
		}
		total += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return total
}

// pace is how much slower than the nominal machine this one is now, at least 1: a loop
// that decodes and encodes JSON is measured beside each bar.
func pace(t *testing.T) float64 {
	t.Helper()
	least := time.Hour
	for range 10 {
		began := cpu()
		for range 200 {
			var value any
			if err := json.Unmarshal([]byte(paceText), &value); err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(value); err != nil {
				t.Fatal(err)
			}
		}
		least = min(least, cpu()-began)
	}
	slower := max(1, float64(least)/float64(paceNominal))
	t.Logf("the loop takes %v: bars are %.2f times as high", least, slower)
	return slower
}

var paceText = `[` + strings.Repeat(`{"id":"vid_1","tags":["a","b"],"views":12345,"caption":"some text of a video"},`, 20) + `null]`

// hold fails if a cost is above what it is held to on this machine.
func hold(t *testing.T, what string, got, bar time.Duration, slower float64) {
	t.Helper()
	bar = time.Duration(float64(bar) * slower)
	t.Logf("%-28s %8v, bar %v", what, got.Round(time.Microsecond), bar.Round(time.Microsecond))
	most := bar
	if os.Getenv("SCROLLERY_BENCH") != "strict" {
		most = time.Duration(float64(bar) * missed)
	}
	if got > most {
		t.Errorf("%s: got %v, want at most %v", what, got, most)
	}
}

// TestFloorOfCalls holds the bars of calls to a server process, key looked up and usage
// event recorded, over a connection of HTTP.
func TestFloorOfCalls(t *testing.T) {
	measured(t)
	const config = "rate_limit: false\nbilling: {standard: {daily_units: 1000000, monthly_units: 1000000}}\n"
	kept := serveAlone(t, "", 0, 1, config)
	bare := serveAlone(t, "", 0, 1, config+"library: {page_cache_bytes: 0}\n") // each read is a first one
	slower := pace(t)
	for _, list := range []string{"hooks", "outliers", "trends"} {
		hold(t, list+", first read", bare.spent(t, "/v1/"+list), firstReadBar, slower)
		hold(t, list+", repeated read", kept.spent(t, "/v1/"+list), repeatedBar, slower)
	}
	var page struct{ Scrolls []struct{ ID string } }
	if _, body := kept.call(t.Context(), kept.readers[0], "GET /v1/scrolls/list"); json.Unmarshal(body, &page) != nil || len(page.Scrolls) == 0 {
		t.Fatalf("list of scrolls: got %s, want the import", body)
	}
	for name, path := range map[string]string{"workspace": "/v1/workspace", "rules": "/v1/rules", "a scroll": "/v1/scrolls?id=" + page.Scrolls[0].ID} {
		hold(t, name, kept.spent(t, path), withoutLists, slower)
	}
}

// cpu is the processor time of the server's threads.
func (s *alone) cpu(t *testing.T) (total time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.pid))
	if err != nil || len(threads) == 0 {
		t.Skipf("the system does not say how long a process ran: %v", err)
	}
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // it may have ended
		var ran int64
		_, _ = fmt.Sscan(string(text), &ran)
		total += time.Duration(ran)
	}
	return total
}

// spent is the least processor time, of three tries as that of pace is the least of ten, that
// a reader's GET costs the server, once its caches are full, over floorConns connections at once.
func (s *alone) spent(t *testing.T, path string) time.Duration {
	t.Helper()
	host := strings.TrimPrefix(s.base, "http://")
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + s.readers[0] + "\r\n\r\n")
	call := func(conn net.Conn, answers *bufio.Reader) error {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("got status %d, %v, want 200", answer.StatusCode, err)
		}
		return nil
	}
	all := func(calls int) {
		var callers sync.WaitGroup
		for range floorConns {
			callers.Go(func() {
				conn, err := net.Dial("tcp", host)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				answers := bufio.NewReaderSize(conn, 64<<10)
				for range calls {
					if err := call(conn, answers); err != nil {
						t.Errorf("GET %s: %v", path, err)
						return
					}
				}
			})
		}
		callers.Wait()
	}
	all(floorCalls / 5)
	least := time.Hour
	for range 3 {
		began := s.cpu(t)
		all(floorCalls)
		least = min(least, s.cpu(t)-began)
	}
	return least / (floorCalls * floorConns)
}

// TestFloorOfImports holds an operator's import to 3,000 videos a second of one processor.
func TestFloorOfImports(t *testing.T) {
	measured(t)
	const videos = 10_000
	running := apptest.Start(t)
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"coffee"}`, &struct{}{})
	file := filepath.Join(t.TempDir(), "videos.jsonl")
	write(t, file, invented(videos))
	slower := pace(t)
	began := cpu()
	report, err := running.Operator().Import(t.Context(), operator.ImportOrder{Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{file}}})
	took := cpu() - began
	if err != nil || report.Total.New != videos {
		t.Fatalf("import: got %d new videos, %v, want %d", report.Total.New, err, videos)
	}
	hold(t, "a video of an import", took/videos, importBar, slower)
}

// program is what `make build` builds, with the console in it.
const program = "../bin/scrollery"

// TestFloorOfColdStart holds the time from the start of the program on a migrated database
// until it is ready.
func TestFloorOfColdStart(t *testing.T) {
	measured(t)
	dir := t.TempDir()
	start := func() time.Duration {
		ops := apptest.FreeAddress(t)
		server := exec.Command(program, "serve")
		server.Env = append(os.Environ(), "SCROLLERY_ADDR=127.0.0.1:0", "SCROLLERY_OPS_ADDR="+ops, "SCROLLERY_DATA_DIR="+dir,
			"SCROLLERY_DATABASE_URL=", "SCROLLERY_LOG_LEVEL=error", "SCROLLERY_LAME_DUCK=0s")
		server.Stderr = os.Stderr
		began := time.Now()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = server.Process.Signal(syscall.SIGTERM)
			if err := server.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		}()
		for time.Since(began) < time.Minute {
			if answer, err := http.Get("http://" + ops + "/readyz"); err == nil {
				answer.Body.Close()
				if answer.StatusCode == http.StatusOK {
					return time.Since(began)
				}
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatal("got no readiness within a minute, want the server ready")
		return 0
	}
	start() // migrates
	var took []time.Duration
	for range 10 {
		took = append(took, start())
	}
	hold(t, "a cold start", slices.Min(took), coldStartBar, pace(t))
}
