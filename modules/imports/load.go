package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Order is an import that a command waits for.
type Order struct {
	// Next returns readings, which have their times; in the end [io.EOF].
	Next func() ([]Reading, error)
	// Stream takes the readings of the first one's day as they come, for an input that may
	// last: runs of other days follow in their order. Without it, all are read first, so that
	// every run comes in its order.
	Stream bool
	// Stored, if set, is called as readings go into their runs.
	Stored func(readings, total int)
}

// noBound of runs: a command's files are the operator's.
const noBound = 1 << 30

// Load takes readings into the library, a run for each day and each further reading of a
// video on that day, and returns when all have ended. With an error, the result counts what
// is stored.
func (s *Service) Load(ctx context.Context, order Order) (done Imported, err error) {
	dir, err := os.MkdirTemp("", "scrollery-import-")
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	l := &loading{dir: dir, order: order}
	l.sorted = newSeries(noBound, l.put)
	if order.Stream {
		if done, err = s.needs.Scrolls.Import(ctx, l.first); err != nil {
			return done, err
		}
	} else if err := l.readAll(); err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	if err := l.sorted.handAll(); err != nil {
		return done, fmt.Errorf("import: keep readings: %w", err)
	}
	runs, streamed := l.sorted.runs, order.Stream
	for _, run := range runs {
		l.total += run.readings
	}
	ordered := l.sorted.ordered()
	l.sorted = nil // the memory is for the scores
	for _, at := range ordered {
		if streamed && at == 0 {
			continue
		}
		more, err := s.needs.Scrolls.Import(ctx, l.reader(at))
		if done.add(more); err != nil {
			return done, err
		}
	}
	return done, nil
}

// loading keeps the readings of runs in files, each part with its size before it.
type loading struct {
	dir    string
	order  Order
	sorted *series
	total  int
}

func (l *loading) file(run int) string { return filepath.Join(l.dir, strconv.Itoa(run)) }

func (l *loading) put(run, _ int, part []byte) error {
	file, err := os.OpenFile(l.file(run), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%016x", len(part))
	if err == nil {
		_, err = file.Write(part)
	}
	return errors.Join(err, file.Close())
}

// readAll sorts all readings.
func (l *loading) readAll() error {
	for {
		readings, err := l.order.Next()
		for i := range readings {
			if err := l.sorted.add(&readings[i].Record, readings[i].Part); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// first hands out the readings of the first run as they come, and keeps the others.
func (l *loading) first() ([]Reading, error) {
	readings, err := l.order.Next()
	now := readings[:0]
	for _, reading := range readings {
		run, failed := l.sorted.place(&reading.Record)
		if failed == nil && run > 0 {
			failed = l.sorted.keep(run, &reading.Record, reading.Part)
		} else {
			now = append(now, reading)
		}
		if failed != nil {
			return nil, failed
		}
	}
	return now, err
}

// reader returns what reads the readings of a run.
func (l *loading) reader(run int) func() ([]Reading, error) {
	at := int64(0)
	return func() ([]Reading, error) {
		file, err := os.Open(l.file(run))
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // only read
		var head [16]byte
		if _, err := file.ReadAt(head[:], at); err != nil {
			return nil, err // io.EOF at the end
		}
		size, err := strconv.ParseInt(string(head[:]), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read readings: %w", err)
		}
		part := make([]byte, size)
		if _, err := file.ReadAt(part, at+int64(len(head))); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read readings: %w", err)
		}
		at += int64(len(head)) + size
		readings, err := unpart(part)
		if l.order.Stored != nil {
			l.order.Stored(len(readings), l.total)
		}
		return readings, err
	}
}

// add counts another run of the same import.
func (i *Imported) add(other Imported) {
	if i.ScrollID == 0 {
		i.ScrollID = other.ScrollID
	}
	for part, t := range other.Parts {
		for len(i.Parts) <= part {
			i.Parts = append(i.Parts, Tally{})
		}
		sum := &i.Parts[part]
		sum.New += t.New
		sum.Again += t.Again
		sum.Same += t.Same
		sum.Repeated += t.Repeated
		sum.Refused += t.Refused
	}
}
