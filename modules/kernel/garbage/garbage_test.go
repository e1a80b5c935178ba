package garbage

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestSoMuchGarbageGathers(t *testing.T) {
	t.Parallel()
	pace := Pace{Spare: 48 << 20, Least: 25, Most: 300}
	for name, c := range map[string]struct {
		inUse uint64
		want  int
	}{
		"nothing in use":      {0, 300},
		"a small heap":        {8 << 20, 300},
		"a larger one":        {24 << 20, 200},
		"as much as is spare": {48 << 20, 100},
		"twice as much":       {96 << 20, 50},
		"a large one":         {1 << 30, 25},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pace.percent(c.inUse); got != c.want {
				t.Errorf("got %d percent, want %d", got, c.want)
			}
		})
	}
}

// TestThePaceFollowsWhatIsInUse counts collections in a process of its own.
func TestThePaceFollowsWhatIsInUse(t *testing.T) {
	if os.Getenv("SCROLLERY_TEST_GARBAGE") != "" {
		collections(t)
		return
	}
	t.Parallel()
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	self.Env = []string{"SCROLLERY_TEST_GARBAGE=1"}
	if out, err := self.CombinedOutput(); err != nil {
		t.Errorf("got %v, want no error: %s", err, out)
	}
}

// collections makes 640 MB of garbage beside little in use, and beside 128 MB.
func collections(t *testing.T) {
	Pace{Spare: 64 << 20, Least: 25, Most: 1600}.Keep()
	var kept [][]byte
	for _, c := range []struct{ keep, least, most uint32 }{
		{4 << 20, 6, 16},   // 64 MB gather: Go's own pace has some 100
		{128 << 20, 6, 16}, // 64 MB gather: Go's own pace has 5
	} {
		for range c.keep >> 20 {
			kept = append(kept, make([]byte, 1<<20))
		}
		runtime.GC()
		runtime.GC() // what follows a collection has happened before the next ends
		before := count()
		for range 640 << 4 {
			sink = make([]byte, 64<<10)
		}
		if n := count() - before; n < c.least || n > c.most {
			t.Errorf("got %d collections beside %d MB in use, want %d to %d", n, c.keep>>20, c.least, c.most)
		}
	}
	runtime.KeepAlive(kept)
}

var sink []byte

func count() uint32 {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return uint32(stats.NumGC)
}
