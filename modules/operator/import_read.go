package operator

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// readAhead is how many batches are read while earlier ones are stored: as many as a
// transaction of an import takes. A record is at most a megabyte, and mostly a few kilobytes.
const readAhead = 3

// fileReading reads files beside the caller, who takes batches in the order of the files.
type fileReading struct {
	order InputFiles
	files []importFile
	batch []Reading

	ctx     context.Context
	cancel  context.CancelFunc
	begin   sync.Once
	batches chan readBatch
	// ended is closed when nothing is read any more.
	ended chan struct{}

	mu   sync.Mutex
	read []fileRead
}

// readBatch is a batch, or the error after the last one.
type readBatch struct {
	readings []Reading
	err      error
}

// fileRead is what was read of a file; refused counts the records that name no video.
type fileRead struct {
	report  formats.Report
	refused int
}

func readFiles(ctx context.Context, order InputFiles, files []importFile) *fileReading {
	r := &fileReading{
		order: order, files: files, read: make([]fileRead, len(files)),
		batches: make(chan readBatch, readAhead), ended: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// next returns the next batch, in the end io.EOF.
func (r *fileReading) next() ([]Reading, error) {
	r.begin.Do(func() { go r.readAll() })
	select {
	case batch, more := <-r.batches:
		if !more {
			return nil, io.EOF
		}
		return batch.readings, batch.err
	case <-r.ctx.Done(): // the input may be one that gives nothing for long
		return nil, context.Cause(r.ctx)
	}
}

// patience is how long stop waits for the input, which cannot be told to end.
const patience = time.Second

// stop ends the reading. Without Input it waits until the files are closed.
func (r *fileReading) stop() {
	r.cancel()
	r.begin.Do(func() { close(r.ended) })
	if !isStream(r.files) {
		<-r.ended
		return
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
	}
}

// filesRead is what was read of each file.
func (r *fileReading) filesRead() []fileRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.read)
}

// readAll hands over all batches, and the error of the first file that could not be read.
func (r *fileReading) readAll() {
	defer close(r.ended)
	defer close(r.batches)
	defer func() {
		if cause := recover(); cause != nil { // an error of this import alone
			_ = r.hand(readBatch{err: fmt.Errorf("panic: %v\n%s", cause, debug.Stack())})
		}
	}()
	for part, file := range r.files {
		if err := r.readFile(file, part); err != nil {
			_ = r.hand(readBatch{err: fmt.Errorf("read %s: %w", file.shown, err)}) // it fails where the caller has left
			return
		}
	}
	if len(r.batch) > 0 {
		_ = r.hand(readBatch{readings: r.batch})
		r.batch = nil
	}
}

// hand waits until the batch has a place. It fails once the reading was stopped.
func (r *fileReading) hand(batch readBatch) error {
	select {
	case r.batches <- batch:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// readFile reads one file, and hands over each batch that is full.
func (r *fileReading) readFile(file importFile, part int) error {
	observed := r.order.observedAt(file, time.Now().UnixMilli())
	var read fileRead
	emit := func(rec stage.Record) error {
		if _, err := rec.Clean(); err != nil {
			read.refused++
			return nil
		}
		if rec.Metrics.ObservedAt == nil { // Clean removed one that was out of bounds
			rec.Metrics.ObservedAt = observed
		}
		if r.batch == nil {
			r.batch = make([]Reading, 0, importBatch)
		}
		if r.batch = append(r.batch, Reading{Record: rec, Part: part}); len(r.batch) < importBatch {
			return nil
		}
		full := r.batch
		r.batch = nil
		return r.hand(readBatch{readings: full})
	}
	var err error
	if isExport(file) {
		read.report, err = r.readExport(r.ctx, file, emit)
	} else {
		read.report, err = readFormats(r.ctx, r.order, file, emit)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[part] = read
	return err
}
