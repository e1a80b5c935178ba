package stage

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// ErrEnough answers an emit beyond what the call may emit. Stop there and return
// what there is: it is no failure.
var ErrEnough = errors.New("the call may emit no more records")

// flushAfter is how long an item waits for company.
const flushAfter = 250 * time.Millisecond

// sender is the stage's end of the stream; gRPC wants one Send at a time.
type sender struct {
	mu    sync.Mutex
	send  func(*stagev1.CallResponse) error
	noted time.Time
	// lenient hands on what is beyond its bounds.
	lenient bool
	// wrong is why the author's work is over: the first value that was beyond its bound. end tells the author.
	wrong error
	end   func(cause error)
}

// refuse ends the call because of what was emitted.
func (s *sender) refuse(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong == nil {
		s.wrong = err
		s.end(err)
	}
	return s.wrong
}

func (s *sender) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong
}

// progressEvery keeps a stage that reports each step from flooding the host.
const progressEvery = 100 * time.Millisecond

// note is the author's progress.
func (s *sender) note(text string) {
	now := time.Now()
	s.mu.Lock()
	often := now.Sub(s.noted) < progressEvery
	if !often {
		s.noted = now
	}
	s.mu.Unlock()
	if !often {
		_ = s.progress(text, 0)
	}
}

func (s *sender) progress(note string, want int32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Progress{
		Progress: &stagev1.Progress{Note: note, Want: want},
	}})
}

// batcher gathers what the author emits. It may be used from several goroutines.
type batcher[M proto.Message] struct {
	sender *sender
	wrap   func([]M) *stagev1.CallResponse
	max    int64

	items   []M
	bytes   int
	emitted int64
	timer   *time.Timer
	err     error
}

func (b *batcher[M]) emit(item M) error {
	size := proto.Size(item)
	if size > MaxRecord {
		return fmt.Errorf("emit: %d bytes are more than the %d that one may have", size, MaxRecord)
	}
	if !b.sender.lenient {
		if err := fits(item); err != nil {
			return b.sender.refuse(fmt.Errorf("emit: %w%s", err, place()))
		}
	}
	b.sender.mu.Lock()
	defer b.sender.mu.Unlock()
	if err := cmp.Or(b.sender.wrong, b.err); err != nil {
		return err
	}
	if b.max > 0 && b.emitted >= b.max {
		return ErrEnough
	}
	if b.bytes+size > BatchBytes {
		if err := b.flushLocked(); err != nil {
			return err
		}
	}
	b.emitted++
	b.items = append(b.items, item)
	b.bytes += size
	if len(b.items) >= BatchItems {
		return b.flushLocked()
	}
	if len(b.items) == 1 {
		b.wait()
	}
	return nil
}

func (b *batcher[M]) wait() {
	if b.timer == nil {
		b.timer = time.AfterFunc(flushAfter, func() { _ = b.flush() })
		return
	}
	b.timer.Reset(flushAfter)
}

func (b *batcher[M]) flush() error {
	b.sender.mu.Lock()
	defer b.sender.mu.Unlock()
	return b.flushLocked()
}

func (b *batcher[M]) flushLocked() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	if b.err != nil || len(b.items) == 0 {
		return b.err
	}
	b.err = b.sender.send(b.wrap(b.items))
	b.items, b.bytes = nil, 0
	return b.err
}

func records(items []*stagev1.Record) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Records{Records: &stagev1.Records{Records: items}}}
}

func files(items []*stagev1.File) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Files{Files: &stagev1.Files{Files: items}}}
}

func seeds(items []*stagev1.Seed) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Seeds{Seeds: &stagev1.Seeds{Seeds: items}}}
}

func sentences(items []*stagev1.Sentence) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Sentences{Sentences: &stagev1.Sentences{Sentences: items}}}
}

func verdicts(items []*stagev1.Verdict) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Verdicts{Verdicts: &stagev1.Verdicts{Verdicts: items}}}
}

func findings(items []*stagev1.Finding) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Findings{Findings: &stagev1.Findings{Findings: items}}}
}
