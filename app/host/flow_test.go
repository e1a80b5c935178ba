package host

import (
	"strings"
	"testing"
	"time"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

func note(size int) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Progress{Progress: &stagev1.Progress{Note: strings.Repeat("x", size)}}}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	t.Run("a flood of records waits for its rate", func(t *testing.T) {
		t.Parallel()
		f, waited := newFlow(64<<20, 4<<20, now), time.Duration(0)
		for range 64 {
			wait, err := f.take(note(1<<20-16), now.Add(waited))
			if err != nil {
				t.Fatal(err)
			}
			waited += wait
		}
		if want := 12 * time.Second; waited < want-time.Second/10 || waited > want {
			t.Errorf("64 MiB took %v, want %v", waited, want)
		}
	})
	t.Run("more bytes than a call may have end it", func(t *testing.T) {
		t.Parallel()
		f := newFlow(1<<20, 4<<20, now)
		if _, err := f.take(note(1<<20), now); err == nil {
			t.Error("got no error, want an error")
		}
	})
	t.Run("a flood of wishes waits", func(t *testing.T) {
		t.Parallel()
		f, waited := newFlow(64<<20, 4<<20, now), time.Duration(0)
		wish := &stagev1.CallResponse{Message: &stagev1.CallResponse_Spend{Spend: &stagev1.Spend{Quota: "units", Units: 1}}}
		const wishes = 10_000
		for range wishes {
			wait, err := f.take(wish, now.Add(waited))
			if err != nil {
				t.Fatal(err)
			}
			waited += wait
		}
		if most := wishes / waited.Seconds(); most > 300 {
			t.Errorf("got %.0f wishes a second, want at most 300", most)
		}
	})
	t.Run("a built-in has no such bound", func(t *testing.T) {
		t.Parallel()
		var f flow
		if wait, err := f.take(note(128<<20), now); wait != 0 || err != nil {
			t.Errorf("got %v and %v, want wait 0 and no error", wait, err)
		}
	})
}
