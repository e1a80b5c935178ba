package operator

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestFirstReadings(t *testing.T) {
	t.Parallel()
	first := newFirstReadings()
	times := []int64{0, 1, -1, 1<<40 + 7, -1 << 40, 1<<63 - 1, -1 << 63, 1_750_000_000_493}
	for i, at := range times {
		ref := stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(i)}
		if _, isNew := first.add(ref, at, i); !isNew {
			t.Errorf("video %d: got a reading before the first, want none", i)
		}
		known, isNew := first.add(ref, at+1, i+1)
		if isNew || known.at() != at || known.part != uint32(i) {
			t.Errorf("video %d: got %d of part %d, new %t; want %d of part %d, new false", i, known.at(), known.part, isNew, at, i)
		}
	}
	if _, isNew := first.add(stage.Ref{Platform: "youtube", ExternalID: "0"}, 5, 0); !isNew {
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
		first.add(stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(7_000_000_000_000_000_000 + i)}, int64(1_750_000_000_000+i), 0)
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
