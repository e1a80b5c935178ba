package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// probeBusy bounds the wait of a probe for other writes, probeTry the wait of one try.
	probeBusy = 1500 * time.Millisecond
	probeTry  = 100 * time.Millisecond
)

// ErrReplaced is the error of a probe that finds another file at the database's path.
var ErrReplaced = errors.New("the database file is not the one that was opened: put it back, or restart")

// Probe writes a row and commits it, or sees by commits, the number of commits of this
// process, that another write is committed meanwhile. It gives up when ctx ends, or after
// 1.5 seconds.
func (f *File) Probe(ctx context.Context, commits func() int64) error {
	if err := f.same(); err != nil {
		return err
	}
	prober, err := f.probeConn()
	if err != nil {
		return err
	}
	began, before := time.Now(), commits()
	for {
		// The user version is part of the first page and used by nothing else.
		_, err := prober.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", time.Now().Unix()&0x7fffffff))
		switch {
		case err == nil:
			return nil
		case Busy(err) && commits() != before:
			return nil // other writes of this process leave no room, but they are committed
		case !Busy(err) || ctx.Err() != nil || time.Since(began) > probeBusy:
			return fmt.Errorf("probe: %w", err)
		}
	}
}

func (f *File) probeConn() (*sql.DB, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errors.New("probe: the database is closed")
	}
	if f.prober == nil {
		f.prober = f.open(spareCache, fmt.Sprintf("busy_timeout(%d)", probeTry.Milliseconds()), "wal_autocheckpoint(0)")
		f.prober.SetMaxOpenConns(1)
	}
	return f.prober, nil
}

// same compares the file at the path with the one that is open. It succeeds if none is yet.
func (f *File) same() error {
	if f.opened == nil {
		return nil
	}
	now, err := os.Stat(f.Path())
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: there is none now", ErrReplaced)
	}
	if err != nil {
		return err
	}
	if !os.SameFile(f.opened, now) {
		return ErrReplaced
	}
	return nil
}

// Damaged reports whether err says that stored data is damaged.
func Damaged(err error) bool {
	var fault *modernc.Error
	if !errors.As(err, &fault) {
		return false
	}
	code := fault.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// QuickCheck reads the whole file and returns what is damaged of it. A connection of its
// own reads the file, and not what others have in memory.
func (f *File) QuickCheck(ctx context.Context) error {
	reader := f.open(readerCache, readOnly)
	return errors.Join(QuickCheck(ctx, reader), reader.Close())
}

// Backup writes a whole, consistent copy to a path where no file is yet, while others read
// and write. It has a connection of its own: the readers' refuse the statement, and no
// write has to wait.
func (f *File) Backup(ctx context.Context, path string) error {
	copier := f.open(readerCache)
	_, err := copier.ExecContext(ctx, "VACUUM INTO $1", path)
	return errors.Join(err, copier.Close())
}
