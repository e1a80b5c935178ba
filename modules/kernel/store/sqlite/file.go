// Package sqlite is a database in one file: one connection that writes, and readers that
// cannot. No code of ours opens, maps or closes a file of a live database but through it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Page caches in KiB. They are what a large database costs in resident memory,
// so they stay small: the operating system caches the file anyway.
const (
	writerCache = 16 << 10
	readerCache = 4 << 10
	bulkCache   = 8 << 10
	// spareCache is that of the prober, which reads one page: it is room for the others. All connections share one pool of pages, as
	// large as their caches together. A full reader takes the oldest page of any of them; the
	// writer, no longer full, then takes a new one, and as the pool is full forgets it at
	// once: without room it reads the root of a tree from the file at every step.
	spareCache = 16 << 10
)

// The connections of bulk readers.
const (
	// BulkConns is how many there are at most.
	BulkConns = 2
	// BulkMost is how many bytes of pages one may have in its cache and stay open. It is
	// less than bulkCache, as a full connection takes the pages of others: see spareCache.
	BulkMost = 4 << 20
	// bulkIdle is how long one without work stays open.
	bulkIdle = 10 * time.Second
)

// File is an open database. It is safe for concurrent use.
type File struct {
	// Writer is the one connection that writes; Readers and Bulk, for bulk readers, cannot.
	Writer, Readers, Bulk *sql.DB

	dir string
	see func(query string)
	log *slog.Logger
	// opened is the file that the connections hold open.
	opened os.FileInfo

	mu sync.Mutex
	// prober is a connection of its own: a backup occupies the writer for minutes.
	prober *sql.DB
	closed bool
}

// Open opens the database in a data folder, and makes both if they are missing. see gets
// the text of every statement.
func Open(ctx context.Context, dir string, see func(query string), log *slog.Logger) (*File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data dir: %w", err)
	}
	if err := finishAlone(ctx, dir); err != nil {
		return nil, err
	}
	f := &File{dir: dir, see: see, log: log}
	path := f.Path()
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("make database file: %w", err)
	}
	f.Writer = f.open(writerCache, fmt.Sprintf("wal_autocheckpoint(%d)", usualLog))
	f.Writer.SetMaxOpenConns(1)
	// The writer connects first, since it alone may turn the file to WAL.
	err := connect(ctx, f.Writer)
	if err == nil {
		f.opened, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), f.Writer.Close())
	}
	f.Readers = f.open(readerCache, readOnly)
	readers := max(4, runtime.GOMAXPROCS(0))
	f.Readers.SetMaxOpenConns(readers)
	f.Readers.SetMaxIdleConns(readers)
	bulk := f.connector(bulkCache, readOnly)
	bulk.most = BulkMost
	f.Bulk = sql.OpenDB(bulk)
	f.Bulk.SetMaxOpenConns(BulkConns)
	f.Bulk.SetMaxIdleConns(BulkConns)
	f.Bulk.SetConnMaxIdleTime(bulkIdle)
	return f, nil
}

// Path is that of the file.
func (f *File) Path() string { return filepath.Join(f.dir, Name) }

// connector makes connections to the file, as long as it is the one that was opened.
func (f *File) connector(cache int, settings ...string) connector {
	return connector{address: DSN(f.Path(), cache, settings...), see: f.see, same: f.same}
}

func (f *File) open(cache int, settings ...string) *sql.DB {
	return sql.OpenDB(f.connector(cache, settings...))
}

// Close closes every connection.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	err := errors.Join(f.Readers.Close(), f.Writer.Close(), f.Bulk.Close())
	if f.prober != nil {
		err = errors.Join(err, f.prober.Close())
	}
	return err
}

// Rebuilder is a connection without foreign keys, for migrations: a table that is rebuilt
// would otherwise empty the tables that refer to it.
func (f *File) Rebuilder() *sql.DB {
	conn := f.open(readerCache, "foreign_keys(0)")
	conn.SetMaxOpenConns(1)
	return conn
}

// usualLog is how long SQLite's log gets, in pages of 4 KiB, before a commit copies it into
// the file. SQLite's own 1000 is what the scoring of one scroll writes: it would copy the
// same pages after each. Readers find a page in a log of up to 4062 at one look. In bulk
// writes it is bulkLog, as long as journal_size_limit lets the file be.
const usualLog, bulkLog = 4000, 14000

// bulkPages bounds the changed pages that bulk writes keep. The driver takes 9.4 KB for a
// page of 4, so they are 57 MB. In a library of a million videos a transaction of an import
// changes more.
const bulkPages = 6000

// BulkWrites begins a time of many writes by this process, and end ends it. Meanwhile
// SQLite copies its log into the file less often, so that a page that many transactions
// change is copied once, and keeps up to bulkPages changed pages of a transaction in memory
// until it commits, so that each is logged once. It changes nothing that a commit promises.
func (f *File) BulkWrites(ctx context.Context) (end func(), err error) {
	set := func(ctx context.Context, pages, spill int) error {
		_, err := f.Writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA cache_spill = %d", pages, spill))
		return err
	}
	if err := set(ctx, bulkLog, bulkPages); err != nil {
		return nil, fmt.Errorf("begin bulk writes: %w", err)
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := set(ctx, usualLog, 1); err != nil {
			f.log.Warn("could not end bulk writes: the log stays long", "error", err)
		}
	}, nil
}

// makePrivate creates an empty database that only its owner can read, before SQLite would
// make it readable by all; SQLite's other files take its mode. It never opens a file that
// exists: to close any descriptor of a database gives up all locks of this process on it.
func makePrivate(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// readOnly is the setting of connections that only read.
const readOnly = "query_only(1)"

// DSN is the address of a connection. A setting takes the place of the usual one of its
// name: the driver applies them in an order of its own. FULL, since under NORMAL a power cut
// loses answered writes, and readers could see what it undoes.
func DSN(path string, cache int, settings ...string) string {
	pragmas := append([]string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		fmt.Sprintf("cache_size(-%d)", cache), "journal_size_limit(67108864)", "temp_store(MEMORY)",
	}, settings...)
	last := map[string]string{}
	for _, pragma := range pragmas {
		name, _, _ := strings.Cut(pragma, "(")
		last[name] = pragma
	}
	query := url.Values{"_pragma": slices.Sorted(maps.Values(last))}
	if !slices.Contains(settings, readOnly) {
		query.Set("_txlock", "immediate")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}

// connect opens a first connection. While another process turns a new file to WAL, SQLite
// says at once that it is busy: it waits for that as long as busy_timeout.
func connect(ctx context.Context, pool *sql.DB) error {
	for end := time.Now().Add(10 * time.Second); ; {
		err := pool.PingContext(ctx)
		if !Busy(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// Unable reports whether the disk has no room, fails, or can only be read.
func Unable(err error) bool {
	var fault *modernc.Error
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}

// Busy reports whether another process held the file for longer than busy_timeout.
func Busy(err error) bool {
	var fault *modernc.Error
	return errors.As(err, &fault) && fault.Code()&0xff == sqlite3.SQLITE_BUSY
}
