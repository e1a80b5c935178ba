package pluginhost_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// BenchmarkStart is a whole call for one record: launcher, exec, mutual TLS, end.
func BenchmarkStart(b *testing.B) {
	bundle := setup(b, nil)
	for b.Loop() {
		if _, err := bundle.probe(b.Context(), "probe", "many:1"); err != nil {
			b.Fatal(err)
		}
	}
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
			b.Fatal(got, err)
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
			b.Fatal(got, err)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "records/s")
}
