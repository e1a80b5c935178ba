package operator

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestFirstReadings(t *testing.T) {
	t.Parallel()
	first := newFirstReadings()
	times := []int64{0, 1, -1, 1<<40 + 7, -1 << 40, 1<<63 - 1, -1 << 63, 1_750_000_000_493}
	for i, at := range times {
		ref := stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(i)}
		if _, isNew := first.add(first.hash(ref), at, i); !isNew {
			t.Errorf("video %d: got a reading before the first, want none", i)
		}
		known, isNew := first.add(first.hash(ref), at+1, i+1)
		if isNew || known.at() != at || known.part != uint32(i) {
			t.Errorf("video %d: got %d of part %d, new %t; want %d of part %d, new false", i, known.at(), known.part, isNew, at, i)
		}
	}
	if _, isNew := first.add(first.hash(stage.Ref{Platform: "youtube", ExternalID: "0"}), 5, 0); !isNew {
		t.Error("got a reading of the other platform's video, want none")
	}
}

// TestFirstReadingsAreSmall counts the memory that is left of a video: an import keeps so
// much of each.
func TestFirstReadingsAreSmall(t *testing.T) {
	const videos, most = 300_000, 60 // bytes
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	first := newFirstReadings()
	for i := range videos {
		first.add(first.hash(stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(7_000_000_000_000_000_000 + i)}), int64(1_750_000_000_000+i), 0)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / videos; got > most {
		t.Errorf("got %d bytes a video, want at most %d", got, most)
	}
	if got := len(first.known); got != videos {
		t.Errorf("got %d videos, want %d", got, videos)
	}
}

// TestFurtherReadings hands out further readings as they came, a run for each day and each
// further reading of a day, and counts the memory that they take meanwhile.
func TestFurtherReadings(t *testing.T) {
	const videos, days, most = 10_000, 10, 270 // bytes
	ref := func(i int) stage.Ref { return stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(i)} }
	reading := func(i, day int) stage.Record {
		number := func(n int64) *int64 { return &n }
		r := stage.Record{Ref: ref(i)}
		r.Metrics.ObservedAt, r.Metrics.Views = number(int64(day)*dayMillis+int64(i)), number(int64(100*day+i))
		if i%2 == 0 {
			r.Metrics.Likes, r.Metrics.Semantics = number(0), "rounded"
		}
		return r
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := &fileReading{first: newFirstReadings(), later: newRunsByDay()}
	for day := range days {
		for i := range videos {
			if rec := reading(i, day); r.isLater(&rec, 0) != (day > 0) {
				t.Fatalf("video %d, day %d: got later %t", i, day, day == 0)
			}
		}
	}
	withText := reading(0, 1) // of another file, which may say more
	withText.Metadata = []byte(`{ "caption": "<a & b>" }`)
	if !r.isLater(&withText, 1) {
		t.Fatal("got no further reading of another file")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / (videos * (days - 1)); got > most {
		t.Errorf("got %d bytes a further reading, want at most %d", got, most)
	}
	for _, want := range []struct{ day, readings int }{
		{1, videos}, {1, 1}, {2, videos}, {3, videos}, {4, videos}, {5, videos}, {6, videos}, {7, videos}, {8, videos}, {9, videos},
	} {
		next, got := r.nextRun(), 0
		for batch, err := next(); err != io.EOF; batch, err = next() {
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range batch {
				wanted, part := reading(got, want.day), 0
				if want.readings == 1 {
					wanted, part = withText, 1
				}
				if diff := cmp.Diff(Reading{Record: wanted, Part: part}, one); diff != "" {
					t.Fatalf("day %d (-want +got):\n%s", want.day, diff)
				}
				got++
			}
		}
		if got != want.readings {
			t.Errorf("day %d: got %d readings, want %d", want.day, got, want.readings)
		}
	}
	if len(r.later.runs) != 0 {
		t.Errorf("got %d more runs, want none", len(r.later.runs))
	}
}
