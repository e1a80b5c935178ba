package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollery/scrollery/modules/kernel/store/wal"
)

// Page caches in KiB. They are what a large database costs in resident memory,
// so they stay small: the operating system caches the file anyway.
const (
	writerCache = 16 << 10
	readerCache = 4 << 10
	apartCache  = 8 << 10
	// spareCache is that of the connection that asks for versions, which reads no page: it is
	// room for the others. All connections share one pool of pages, as large as their caches
	// together. A full reader takes the oldest page of any of them; the writer, no longer
	// full, then takes a new one, and as the pool is full forgets it at once: without room it
	// reads the root of a tree from the file at every step. The first call with a key asks for
	// a version; an import has a connection of its own for it.
	spareCache = 16 << 10
)

// The connections of [Apart].
const (
	// apartConns is how many there are at most.
	apartConns = 2
	// apartMost is how many bytes of pages one may have in its cache and stay open. It is
	// less than apartCache, as a full connection takes the pages of others: see spareCache.
	apartMost = 4 << 20
	// apartIdle is how long one without work stays open.
	apartIdle = 10 * time.Second
)

// openSQLite opens one connection that writes and a pool that cannot.
func (db *DB) openSQLite(ctx context.Context) error {
	if err := os.MkdirAll(db.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data dir: %w", err)
	}
	path := db.sqlitePath()
	// The file is made private before SQLite opens it; the -wal file inherits the mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make database file: %w", err)
	}
	db.health.opened, err = file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("make database file: %w", err)
	}
	db.wal = wal.New(path+"-wal", db.checkpoint)
	db.writer = sql.OpenDB(connector{
		address: sqliteDSN(path, writerCache, fmt.Sprintf("_txlock=immediate&_pragma=wal_autocheckpoint(%d)", usualLog)),
		watch:   &db.watch, settles: true,
	})
	db.writer.SetMaxOpenConns(1)
	// The writer connects first, since it alone may turn the file to WAL.
	if err := connect(ctx, db.writer); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", path, err), db.writer.Close())
	}
	db.reader = sql.OpenDB(connector{address: sqliteDSN(path, readerCache, "_pragma=query_only(1)"), watch: &db.watch})
	readers := max(4, runtime.GOMAXPROCS(0))
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	db.apart = sql.OpenDB(connector{address: sqliteDSN(path, apartCache, "_pragma=query_only(1)"), watch: &db.watch, most: apartMost})
	db.apart.SetMaxOpenConns(apartConns)
	db.apart.SetMaxIdleConns(apartConns)
	db.apart.SetConnMaxIdleTime(apartIdle)
	db.driver = &router{
		writer: entsql.OpenDB(dialect.SQLite, db.writer),
		reader: entsql.Conn{ExecQuerier: newPrepared(db.reader)},
		apart:  entsql.Conn{ExecQuerier: newPrepared(db.apart)},
	}
	db.jobs = newJobsTable(db)
	return nil
}

// usualLog is how long SQLite's log gets, in pages of 4 KiB, before a commit copies it into
// the file. SQLite's own 1000 is what the scoring of one scroll writes: it would copy the
// same pages after each. Readers find a page in a log of up to 4062 at one look. In bulk
// writes it is bulkLog, as long as journal_size_limit lets the file be, where the log is
// copied beside them, and mostLog where it is not.
const usualLog, bulkLog, mostLog = 4000, 14000, 32768

// bulkPages bounds the changed pages that bulk writes keep. The driver takes 9.4 KB for a
// page of 4, so they are 57 MB. In a library of a million videos a transaction of an import
// changes more.
const bulkPages = 6000

// Bulk begins a time of many writes by this process, and end ends it. Meanwhile SQLite
// copies its log into the file less often, so that a page that many transactions change is
// copied once, does so beside the writes, and keeps up to bulkPages changed pages of a
// transaction in memory until it commits, so that each is logged once. It changes nothing
// that a commit promises. On PostgreSQL it does nothing.
func (db *DB) Bulk(ctx context.Context) (end func(), err error) {
	if db.pool != nil {
		return func() {}, nil
	}
	set := func(ctx context.Context, pages, spill int) error {
		_, err := db.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA cache_spill = %d", pages, spill))
		return err
	}
	if err := set(ctx, mostLog, bulkPages); err != nil {
		return nil, fmt.Errorf("begin bulk writes: %w", err)
	}
	copying, stop := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { db.copyBeside(copying) })
	return func() {
		stop()
		done.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := set(ctx, usualLog, 1); err != nil {
			db.log.Warn("could not end bulk writes: the log stays long", "error", err)
		}
	}, nil
}

// copyBeside copies the log into the file whenever it is bulkLog long: most of it while
// others write, and what they wrote meanwhile in a turn of the writer, after which the log
// begins anew. Where that fails, commits do it as soon as the log is mostLog long.
func (db *DB) copyBeside(ctx context.Context) {
	beside := sql.OpenDB(connector{address: sqliteDSN(db.sqlitePath(), spareCache, "_pragma=query_only(1)"), watch: &db.watch})
	defer beside.Close()
	beside.SetMaxOpenConns(1)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var busy, pages, copied int64
		err := beside.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &copied)
		if err == nil && (pages < bulkLog || pages == copied) {
			continue
		}
		for _, by := range []*sql.DB{beside, db.writer} {
			if err == nil {
				err = by.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
			}
		}
		if err != nil && ctx.Err() == nil {
			db.log.Warn("could not copy the log beside bulk writes: they do it themselves", "error", err)
			return
		}
	}
}

// checkpointFor bounds a checkpoint of everything.
const checkpointFor = 30 * time.Second

// checkpoint copies everything that is committed from SQLite's log into the file, and
// writes that to the disk.
func (db *DB) checkpoint() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkpointFor)
	defer cancel()
	var busy, pages, copied int64
	if err := db.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &pages, &copied); err != nil {
		return fmt.Errorf("copy the log into the file: %w", err)
	}
	if busy != 0 || copied != pages {
		return fmt.Errorf("copy the log into the file: %d of %d pages, busy %d", copied, pages, busy)
	}
	return nil
}

func (db *DB) sqlitePath() string { return filepath.Join(db.cfg.DataDir, "scrollery.db") }

// sqliteDSN: FULL, since under NORMAL a power cut loses answered writes, unless who answers
// waits for the disk, see [wal.Log].
func sqliteDSN(path string, cache int, more string) string {
	pragmas := []string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		fmt.Sprintf("cache_size(-%d)", cache), "journal_size_limit(67108864)", "temp_store(MEMORY)",
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=" + strings.Join(pragmas, "&_pragma=") + "&" + more
}

type apartKey struct{}

// Apart returns a context for a caller that reads much, one page after another, such as an
// export. On SQLite, what it reads outside of transactions goes to connections of their
// own: they hold little memory, give it back after the last read, and leave what others
// read in the caches of theirs. It must read no page before the rows of the last one are
// closed. On PostgreSQL nothing is different.
func Apart(ctx context.Context) context.Context { return context.WithValue(ctx, apartKey{}, true) }

func isApart(ctx context.Context) bool { return ctx.Value(apartKey{}) != nil }

// readerOf is the pool of what a caller reads outside of transactions.
func (db *DB) readerOf(ctx context.Context) *sql.DB {
	if db.apart != nil && isApart(ctx) {
		return db.apart
	}
	return db.reader
}

// router is Ent's driver outside of transactions: what reads goes to a pool of
// readers, everything else to the one writer. It looks at the text, because
// INSERT … RETURNING arrives as a query.
type router struct {
	writer        *entsql.Driver
	reader, apart entsql.Conn
}

func (r *router) readerOf(ctx context.Context) entsql.Conn {
	if isApart(ctx) {
		return r.apart
	}
	return r.reader
}

func (r *router) Exec(ctx context.Context, query string, args, v any) error {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return err
	}
	return driver.Exec(ctx, query, args, v)
}

func (r *router) Query(ctx context.Context, query string, args, v any) error {
	if isRead(query) {
		return r.readerOf(ctx).Query(ctx, query, args, v)
	}
	driver, err := r.forWrite(ctx)
	if err != nil {
		return err
	}
	return driver.Query(ctx, query, args, v)
}

func (r *router) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.ExecContext(ctx, query, args...)
}

func (r *router) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if isRead(query) {
		return r.readerOf(ctx).QueryContext(ctx, query, args...)
	}
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.QueryContext(ctx, query, args...)
}

// Tx serves Ent's own multi-statement changes.
func (r *router) Tx(ctx context.Context) (dialect.Tx, error) {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Tx(ctx)
}

// Close does nothing: DB.Close closes both pools.
func (r *router) Close() error    { return nil }
func (r *router) Dialect() string { return dialect.SQLite }

// forWrite refuses what would wait for ever for the transaction it is part of.
func (r *router) forWrite(ctx context.Context) (*entsql.Driver, error) {
	if inWrite(ctx) {
		return nil, errNested
	}
	return r.writer, nil
}

func isRead(query string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	return len(query) >= 6 && strings.EqualFold(query[:6], "SELECT")
}

// connect opens a first connection. While another process turns a new file to WAL, SQLite
// says at once that it is busy: it waits for that as long as busy_timeout.
func connect(ctx context.Context, pool *sql.DB) error {
	for end := time.Now().Add(10 * time.Second); ; {
		err := pool.PingContext(ctx)
		if !busy(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// busy reports whether another process held the file for longer than busy_timeout.
func busy(err error) bool {
	var fault *sqlite.Error
	return errors.As(err, &fault) && fault.Code()&0xff == sqlite3.SQLITE_BUSY
}
