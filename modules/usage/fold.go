package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/usage/journal"
)

// foldEvery is how long events stay in the journal, adoptEvery the time between two looks
// for journals of processes that were killed.
const (
	foldEvery  = time.Second
	adoptEvery = time.Minute
)

// JournalDir returns the journal's folder in a data folder.
func JournalDir(dataDir string) string { return filepath.Join(dataDir, "journal") }

// folder writes events into the journal, and stores them in the tables of SQLite a little
// later: so no answer waits for the database's one writer. What a killed process left in
// its journal is stored by the next one. Storing an event again changes nothing, as the
// tables know its id.
type folder struct {
	rows    rows
	timeout time.Duration
	every   time.Duration
	log     *slog.Logger
	pending *Pending

	// group is held while a group is written, or the files change.
	group   sync.Mutex
	journal *journal.Journal
	entry   []byte

	fold sync.Mutex // held while events are stored

	wake, halt, done chan struct{}
}

func newFolder(rows rows, cfg Config, pending *Pending, log *slog.Logger) *folder {
	return &folder{
		rows: rows, timeout: cfg.CommitTimeout, every: foldEvery, log: log, pending: pending,
		wake: make(chan struct{}, 1), halt: make(chan struct{}), done: make(chan struct{}),
	}
}

// start stores what earlier processes left, and opens the journal.
func (f *folder) start() (err error) {
	if f.journal, err = journal.Open(JournalDir(f.rows.db.Dir()), f.take); err == nil {
		go f.run()
	}
	return err
}

// stop stores what is pending. What cannot be stored stays for the next process.
func (f *folder) stop(ctx context.Context) error {
	close(f.halt)
	select {
	case <-f.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := f.store(ctx); err != nil {
		f.log.Warn("usage events stay in the journal", "error", err)
	}
	return f.journal.Close()
}

// add returns once the events are durable.
func (f *folder) add(ctx context.Context, events []event) error {
	for full := f.pending.full(); full != nil; full = f.pending.full() {
		select {
		case <-full:
		case <-ctx.Done():
			return fmt.Errorf("%d usage events wait for the database: %w", maxPending, ctx.Err())
		}
	}
	for i := range events {
		events[i].id = f.rows.db.NewID()
	}
	if err := f.rows.db.IDs(); err != nil {
		return err
	}
	f.group.Lock()
	defer f.group.Unlock()
	defer f.nudge()
	f.entry = appendEntry(f.entry[:0], events)
	if err := f.journal.Append(f.entry); err != nil {
		return err
	}
	f.pending.add(events)
	return nil
}

func (f *folder) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// check returns why events cannot be written, nil where they can.
func (f *folder) check() error {
	err := f.journal.Check()
	if err != nil {
		f.nudge() // it is repaired
	}
	return err
}

// run stores events until it is stopped; it rests while there are none.
func (f *folder) run() {
	defer close(f.done)
	adopt := time.NewTicker(adoptEvery)
	defer adopt.Stop()
	for {
		select {
		case <-f.halt:
			return
		case <-adopt.C:
			if err := f.journal.Adopt(f.take); err != nil {
				f.log.Error("usage events of an ended process", "error", err)
			}
			continue
		case <-f.wake:
		}
		select {
		case <-f.halt:
			return
		case <-time.After(f.every):
		}
		ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
		if err := f.store(ctx); err != nil {
			f.log.Error("store usage events", "error", err)
		}
		cancel()
		if left, _ := f.pending.size(); left > 0 {
			f.nudge()
		}
	}
}

// store stores what is pending now, and repairs a journal that failed.
func (f *folder) store(ctx context.Context) error {
	f.fold.Lock()
	defer f.fold.Unlock()
	f.group.Lock()
	if _, chunks := f.pending.size(); !chunks {
		f.pending.seal()
		f.journal.Turn()
	}
	f.group.Unlock()
	for chunk := f.pending.begin(); chunk != nil; chunk = f.pending.begin() {
		if err := f.rows.add(ctx, chunk); err != nil {
			return err
		}
		f.pending.stored()
	}
	if err := errors.Join(f.journal.Empty(), f.journal.Check()); err == nil {
		return nil
	}
	f.group.Lock()
	defer f.group.Unlock()
	if left, _ := f.pending.size(); left > 0 {
		return nil // they are stored first, by the next call
	}
	return f.journal.Reopen(f.take)
}

// take stores events that a process left in its journal.
func (f *folder) take(entries [][]byte) error {
	var events []event
	for _, entry := range entries {
		found, err := readEntry(entry)
		if err != nil {
			return err
		}
		events = append(events, found...)
	}
	for chunk := range slices.Chunk(events, chunkSize) {
		ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
		err := f.rows.add(ctx, chunk)
		if cancel(); err != nil {
			return fmt.Errorf("store %d usage events of the journal: %w", len(events), err)
		}
	}
	f.log.Info("usage events of an ended process are stored", "events", len(events))
	return nil
}

// CopyJournal copies the events that are not in the tables yet, of all processes, into
// another data folder. Copied before the tables are, it has all that they lack.
func (s *Service) CopyJournal(dataDir string) error {
	if s.rows.db.Dialect() != store.SQLite {
		return nil
	}
	return journal.Copy(JournalDir(s.rows.db.Dir()), JournalDir(dataDir))
}

// CheckJournal returns how many events are in the journal of a data folder. It fails where
// one cannot be read.
func CheckJournal(dataDir string) (events int, err error) {
	entries, err := journal.Read(JournalDir(dataDir))
	for _, entry := range entries {
		found, fault := readEntry(entry)
		events += len(found)
		err = errors.Join(err, fault)
	}
	return events, err
}
