// Package wal writes the log of a SQLite database to the disk: once for all transactions
// that were committed meanwhile, and while others go on.
//
// SQLite by itself (synchronous = FULL) does so within each commit, and no one else can
// write in that time. With NORMAL a commit is whole after any crash of the process, and what
// a power cut leaves of the log is a row of whole commits; only the last ones can be missing.
// Who waits for [Log.Settle] after a commit knows that it is not among them.
package wal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/scrollery/scrollery/modules/kernel/power"
)

// Log is the write-ahead log of a database. It is safe for concurrent use.
type Log struct {
	// Sync writes what the file holds to the disk. Tests set it before the first call.
	Sync func(*os.File) error

	// IntoDB copies all that is committed from the log into the database's file and writes
	// that to the disk.
	IntoDB func() error

	path string
	// asked counts the calls of Settle.
	asked atomic.Uint64

	mu      sync.Mutex // guards what follows
	file    *os.File
	settled uint64 // the last call that is served
	broken  bool   // a sync has failed, and IntoDB not succeeded since
}

// New returns the log at a path, of a database whose connections stay open as long as it is
// used.
func New(path string, intoDB func() error) *Log {
	return &Log{path: path, IntoDB: intoDB, Sync: power.Sync}
}

// Settle returns once everything that was committed before the call is on the disk. After
// an error that is not known.
func (l *Log) Settle() error {
	number := l.asked.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled >= number {
		return nil
	}
	latest := l.asked.Load()
	if err := l.write(); err != nil {
		return fmt.Errorf("write the log to the disk: %w", err)
	}
	l.settled = latest
	return nil
}

func (l *Log) write() error {
	var err error
	if !l.broken {
		if err = l.open(); err == nil {
			err = l.Sync(l.file)
		}
		l.broken = err != nil
	}
	if !l.broken {
		return nil
	}
	// What a failed sync has not written, a later one believes to be on the disk. It is
	// still in memory, where SQLite reads it.
	if copied := l.IntoDB(); copied != nil {
		return errors.Join(err, copied)
	}
	l.broken = false
	return nil
}

// open opens the file at the path, unless it is the one that is open.
func (l *Log) open() error {
	found, err := os.Stat(l.path)
	if err != nil {
		return err
	}
	if l.file != nil {
		if info, err := l.file.Stat(); err == nil && os.SameFile(found, info) {
			return nil
		}
		_ = l.file.Close()
		l.file = nil
	}
	l.file, err = os.OpenFile(l.path, os.O_RDWR, 0) // some systems sync only what they may write
	return err
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
