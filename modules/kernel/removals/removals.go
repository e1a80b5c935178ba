// Package removals keeps a log of what was deleted for good, apart from the database: tombstones,
// erased creators and accounts that leave. A database that is restored from an older copy knows
// nothing of what was deleted since; the log has it deleted again before the server serves.
//
// A line is a row in the transaction of what it says, so that none is lost or too many, and goes
// into the file once that is committed: appended under a lock that all processes of the data
// folder share, and on the disk before the row goes. Lines say hashes with the server's key,
// numbers and times. Their order does not matter, and saying one twice changes nothing.
package removals

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Folder is the folder of the log in the data folder.
const Folder = "removed"

// KeepEnded is how long lines stay that only a database from before them could need: of accounts
// that left, and of deletions that were undone.
const KeepEnded = 400 * 24 * time.Hour

// promptly is how long a caller waits for its lines to be in the file. A job writes those that
// are late.
const promptly = time.Second

// Log is the log of a data folder. It is safe for concurrent use.
type Log struct {
	db  *store.DB
	key func() (*secret.Hasher, error)
	dir string
	log *slog.Logger
	now func() time.Time
	// merging: this process has the lock, and writes all lines at its end.
	merging atomic.Bool
	// unable: the last lines could not be written, which was logged.
	unable atomic.Bool
}

// New returns the log of the data folder of db. key hashes accounts, with the purpose of the
// other hashes of removals.
func New(db *store.DB, key func() (*secret.Hasher, error), log *slog.Logger) *Log {
	return &Log{db: db, key: key, dir: filepath.Join(db.Dir(), Folder), log: log, now: time.Now}
}

// Flush has the file what was committed, and is on the disk when it returns. It waits for a short
// time, and never fails: what it cannot write stays in the database, for the next one.
func (l *Log) Flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), promptly)
	defer cancel()
	_ = l.Write(ctx)
}

// Write is Flush that reports its error.
func (l *Log) Write(ctx context.Context) error {
	if l.merging.Load() {
		return nil
	}
	ctx = viewer.System(ctx)
	rows, err := l.waiting(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	unlock, err := l.lock(ctx)
	if err == nil {
		err = errors.Join(l.write(ctx), unlock())
	}
	switch {
	case err != nil && l.unable.CompareAndSwap(false, true):
		l.log.WarnContext(ctx, "the log of removals can not be written; its lines wait in the database", "folder", l.dir, "error", err)
	case err == nil && l.unable.CompareAndSwap(true, false):
		l.log.InfoContext(ctx, "the log of removals is written again", "folder", l.dir)
	}
	return err
}

// Periodics returns the housekeeping.
func (l *Log) Periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: "removals.write", Every: time.Minute, Run: l.Write},
		{Kind: "removals.compact", Every: 24 * time.Hour, Run: l.Compact},
	}
}

// lock keeps the writers apart, in all processes that share the folder.
func (l *Log) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	held, err := flock.Wait(ctx, l.dir+".lock")
	if err != nil {
		return nil, err
	}
	return held.Release, nil
}

// The first words of lines.
const (
	deletionKind = "deletion"
	buryKind     = "bury"
	forgetKind   = "forget"
	liftKind     = "lift"
	suppressKind = "suppress"
	leaveKind    = "leave"
	stayKind     = "stay"
)

// Line is a line of the log.
type Line struct {
	kind string
	// of is the hash of an account; empty for a suppression.
	of string
	// id is of a deletion or an erasure.
	id int64
	// text is what was deleted, the hash of a name, the number of a scroll, or the subject of a
	// confirmation.
	text string
	// at is in Unix milliseconds.
	at int64
}

// Deletion says what a deletion of an account deletes, a word.
func Deletion(key *secret.Hasher, account, id int64, what string, at int64) Line {
	return Line{deletionKind, hashOf(key, account), id, what, at}
}

// Bury says that a deletion keeps a name out.
func Bury(key *secret.Hasher, account, deletion int64, name string, at int64) Line {
	return Line{buryKind, hashOf(key, account), deletion, name, at}
}

// Forget says that a deletion takes back what a scroll read.
func Forget(key *secret.Hasher, account, deletion, scroll, at int64) Line {
	return Line{forgetKind, hashOf(key, account), deletion, strconv.FormatInt(scroll, 10), at}
}

// Lift says that a deletion is undone.
func Lift(key *secret.Hasher, account, deletion, at int64) Line {
	return Line{liftKind, hashOf(key, account), deletion, "", at}
}

// Suppress says that an erasure keeps a name out of all libraries.
func Suppress(erasure int64, name string, at int64) Line {
	return Line{suppressKind, "", erasure, name, at}
}

// hashOf is the hash of an account, which has no meaning but in the log.
func hashOf(key *secret.Hasher, account int64) string {
	return key.Hash("removed of", strconv.FormatInt(account, 10))
}

// Leaves notes in the transaction that the owner of an account confirmed its deletion.
func (l *Log) Leaves(ctx context.Context, tx *store.Tx, account int64, subject string, at int64) error {
	return l.note(ctx, tx, leaveKind, account, subject, at)
}

// Stays notes in the transaction that the owner of an account called its deletion off.
func (l *Log) Stays(ctx context.Context, tx *store.Tx, account, at int64) error {
	return l.note(ctx, tx, stayKind, account, "", at)
}

func (l *Log) note(ctx context.Context, tx *store.Tx, kind string, account int64, text string, at int64) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	return Note(ctx, tx, Line{kind, hashOf(key, account), 0, text, at})
}
