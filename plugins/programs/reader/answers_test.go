package reader

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

// stream counts what is sent.
type stream struct {
	grpc.ServerStreamingServer[readerv1.ReadResponse]
	sent atomic.Int64
}

func (s *stream) Send(*readerv1.ReadResponse) error {
	s.sent.Add(1)
	return nil
}

// TestSignsOfLife reads for ten minutes on a machine that is busy with other work, and then
// with a processor of its own.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var used atomic.Int64
		out := &stream{}
		a := &answers{out: out, used: func() time.Duration { return time.Duration(used.Load()) }}
		stop := a.signs(sign)
		for range 10 {
			time.Sleep(time.Minute)
			used.Add(int64(5 * time.Second))
		}
		if got, want := out.sent.Load(), int64(10*time.Minute/sign); got < want-1 || got > want {
			t.Errorf("got %d signs of life in ten minutes, want %d", got, want)
		}
		used.Add(int64(work))
		time.Sleep(time.Second)
		synctest.Wait()
		at := out.sent.Load()
		time.Sleep(10 * time.Minute)
		if out.sent.Load() > at {
			t.Errorf("got %d signs of life after a minute of work without an answer, want none", out.sent.Load()-at)
		}
		if err := a.send(&readerv1.ReadResponse{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * sign)
		if out.sent.Load() < at+2 {
			t.Error("got no sign of life after an answer")
		}
		stop()
		at = out.sent.Load()
		time.Sleep(time.Minute)
		if out.sent.Load() > at {
			t.Error("got a sign of life after the end")
		}
	})
}

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	before := processorTime()
	for end := time.Now().Add(time.Minute); processorTime() <= before; {
		if time.Now().After(end) {
			t.Fatal("a minute of work took no processor time")
		}
	}
}
