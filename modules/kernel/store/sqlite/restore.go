package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// Name is the file of the database in a data folder.
const Name = "scrollery.db"

// journal has the moves of a restore that has begun, in the data folder.
const journal = "restoring.json"

// ErrInUse is the error of work on a data folder that a process uses.
var ErrInUse = errors.New("a server or a command uses the data folder: stop it first")

// Hold takes a data folder for itself, and refuses one that a process uses.
func Hold(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var held []*flock.Lock
	release = func() error {
		var all []error
		for _, lock := range held {
			all = append(all, lock.Release())
		}
		return errors.Join(all...)
	}
	numbers, err := filepath.Glob(filepath.Join(dir, "nodes", "*.lock"))
	if err != nil {
		return nil, err
	}
	for _, path := range append(numbers, filepath.Join(dir, "work.lock"), filepath.Join(dir, journal+".lock")) {
		lock, err := flock.Try(path)
		if errors.Is(err, flock.ErrLocked) {
			return nil, errors.Join(ErrInUse, release())
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		held = append(held, lock)
	}
	return release, nil
}

// Moves put the files of a restore in their places: those of the folder Part, while those that were
// there before go to the folder Aside. Names are of the data folder.
type Moves struct {
	Part, Aside string
	Away, Put   []string
}

// Begin notes the moves, which are done from then on: if the process ends on the way, the next one
// that opens the database does the rest. The caller holds the folder.
func (m Moves) Begin(dir string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, journal)
	file, err := os.OpenFile(path+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// Finish does the rest of the moves of a restore that has begun. It does nothing if there is none.
func Finish(dir string) error {
	path := filepath.Join(dir, journal)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var m Moves
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return fmt.Errorf("finish a restore: %w", err)
	}
	move := func(from, to, name string) error {
		if _, err := os.Lstat(filepath.Join(from, name)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return os.Rename(filepath.Join(from, name), filepath.Join(to, name))
	}
	aside, part := filepath.Join(dir, m.Aside), filepath.Join(dir, m.Part)
	if len(m.Away) > 0 {
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return fmt.Errorf("finish a restore: %w", err)
		}
	}
	for _, name := range m.Away {
		if _, err := os.Lstat(filepath.Join(aside, name)); err == nil {
			continue // what has the name now may be of the copy
		}
		if err := move(dir, aside, name); err != nil {
			return fmt.Errorf("finish a restore: %w", err)
		}
	}
	for _, name := range m.Put {
		if err := move(part, dir, name); err != nil {
			return fmt.Errorf("finish a restore: %w", err)
		}
	}
	if err := errors.Join(syncFolder(dir), os.RemoveAll(part)); err != nil {
		return fmt.Errorf("finish a restore: %w", err)
	}
	return errors.Join(os.Remove(path), syncFolder(dir))
}

// finishAlone is Finish, by one process at a time.
func finishAlone(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, journal)); err != nil {
		return nil //nolint:nilerr // there is none
	}
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	held, err := flock.Wait(waiting, filepath.Join(dir, journal+".lock"))
	if err != nil {
		return err
	}
	return errors.Join(Finish(dir), held.Release())
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// OpenCopy opens the database of a folder that no server uses, for reading. It changes nothing of it.
func OpenCopy(ctx context.Context, dir string) (*sql.DB, error) {
	path := filepath.Join(dir, Name)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector{
		address: "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(10000)",
		see:     func(string) {}, same: func() error { return nil },
	})
	pool.SetMaxOpenConns(1)
	if err := connect(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// Vacuum writes the database of a folder anew, without freed pages and the old texts in them. It
// fails with ErrInUse while a process uses the folder, and with [fs.ErrNotExist] without a database.
func Vacuum(ctx context.Context, dir string) (err error) {
	if _, err := os.Stat(dir); err != nil {
		return err // Hold would make it
	}
	release, err := Hold(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := Finish(dir); err != nil { // of a restore that was cut off
		return err
	}
	path := filepath.Join(dir, Name)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	pool := sql.OpenDB(connector{
		address: DSN(path, 8<<10, "temp_store(FILE)"), see: func(string) {}, same: func() error { return nil },
	})
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	if _, err := pool.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("VACUUM: %w", err)
	}
	return emptyLog(ctx, pool)
}

// emptyLog moves all of the write-ahead log into the database, and empties it. It fails with ErrInUse
// if another process reads or writes the database, so that old pages may be left in either.
func emptyLog(ctx context.Context, pool *sql.DB) error {
	var busy, pages, moved int
	err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	switch {
	case err != nil:
		return fmt.Errorf("empty the write-ahead log: %w", err)
	case busy != 0:
		return ErrInUse
	}
	return nil
}

// QuickCheck reads a whole database, and reports its faults, at most five.
func QuickCheck(ctx context.Context, pool *sql.DB) error {
	rows, err := pool.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	var faults []error
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			faults = append(faults, err)
		} else if line != "ok" {
			faults = append(faults, errors.New(strings.TrimPrefix(line, "*** in database main ***\n")))
		}
	}
	if err := errors.Join(append(faults, rows.Err(), rows.Close())...); err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}
