package host_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// BenchmarkStart is a whole call for one record: launcher, exec, mutual TLS, end.
func BenchmarkStart(b *testing.B) {
	bundle := setup(b, nil)
	if _, err := bundle.probe(b.Context(), "probe", "many:1"); err != nil {
		b.Fatal(err)
	}
	before := processorTime(b)
	for b.Loop() {
		if _, err := bundle.probe(b.Context(), "probe", "many:1"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
}

// processorTime is what this process and all that it started have used, in nanoseconds:
// unlike the time of the clock, it is the same on a busy machine.
func processorTime(b *testing.B) (sum int64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += used.Utime.Nano() + used.Stime.Nano()
	}
	return sum
}

// BenchmarkCollect is the stream without the start of the process.
func BenchmarkCollect(b *testing.B) {
	const n = 100_000
	bundle := setup(b, nil)
	var took time.Duration
	for b.Loop() {
		var first time.Time
		got := 0
		_, err := bundle.Collect(b.Context(), "probe", stage.Run{}, []stage.Seed{{Term: fmt.Sprintf("many:%d", n)}}, func(batch []stage.Record) error {
			if got == 0 {
				first = time.Now()
			}
			got += len(batch)
			return nil
		})
		if err != nil || got != n {
			b.Fatalf("got %d records, %v, want %d", got, err, n)
		}
		took += time.Since(first)
	}
	b.ReportMetric(float64(b.N)*n/took.Seconds(), "records/s")
}

func BenchmarkScreen(b *testing.B) {
	const n = 50_000
	bundle := setup(b, nil)
	for b.Loop() {
		got := 0
		_, err := bundle.Screen(b.Context(), "judge", stage.Run{}, input(n, 1000), func(batch []stage.Verdict) error {
			got += len(batch)
			return nil
		})
		if err != nil || got != n {
			b.Fatalf("got %d verdicts, %v, want %d", got, err, n)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "records/s")
}
