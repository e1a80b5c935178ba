package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/power"
)

// writeTries is how often a transaction is begun before its conflict is an error.
const writeTries = 6

var errNested = errors.New("a write inside a write: use the transaction that is open")

type writeKey struct{}

func inWrite(ctx context.Context) bool { return ctx.Value(writeKey{}) != nil }

// session is what *sql.Tx and *sql.Conn have in common.
type session interface {
	entsql.ExecQuerier
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// Tx is one open transaction. It is not safe for concurrent use, and of no use
// once the function it was given to has returned.
type Tx struct {
	db     *DB
	conn   session
	pinned *sql.Conn
	pgx    pgx.Tx // PostgreSQL only
	client *ent.Client
	after  []func()
	wake   bool

	tailKeys []any
	tails    []Tail

	unchanged bool
	unawaited bool
	number    string // of the transaction at the server; known where something rides
}

// Write runs do in one transaction and commits it when do returns nil. When the
// database gives the transaction up because of another one, do runs again, so it
// must keep its effects in tx. The isolation is read committed on PostgreSQL: lock
// what you decide upon, see [Tx.Lock]. On SQLite writes run one after another.
//
// Write may not be called from do. When the context ends before the commit,
// nothing is written; a commit that has begun is seen through.
func (db *DB) Write(ctx context.Context, do func(ctx context.Context, tx *Tx) error) error {
	if inWrite(ctx) {
		return errNested
	}
	return db.tries(ctx, func() error { return db.writeOnce(ctx, do) })
}

// tries begins a transaction again that the database gave up because of another one.
func (db *DB) tries(ctx context.Context, once func() error) error {
	for try := 1; ; try++ {
		err := once()
		if lockTimeout(err) {
			return apierr.Busy(err)
		}
		if err == nil || try == writeTries || ctx.Err() != nil || !(busy(err) || conflict(err)) {
			return err
		}
		pause := time.Duration(1<<try) * 5 * time.Millisecond
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

func (db *DB) writeOnce(ctx context.Context, do func(ctx context.Context, tx *Tx) error) error {
	tx, end, err := db.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed, sent := false, false
	defer func() {
		if !sent { // also after a panic
			end(false)
		}
	}()
	if err := do(context.WithValue(ctx, writeKey{}, tx), tx); err != nil {
		return err
	}
	ended, err := tx.ride(ctx)
	if ended != nil {
		defer func() { ended(committed) }()
	}
	if err == nil {
		err = tx.writeTails(ctx)
	}
	if err := errors.Join(err, ctx.Err(), db.ids.Err()); err != nil {
		return err
	}
	sent = true
	if err := end(true); err != nil {
		if err := db.outcome(ctx, tx.number, err); err != nil {
			return err
		}
	}
	committed = true
	if tx.wake {
		select {
		case db.wake <- struct{}{}:
		default:
		}
	}
	for _, call := range tx.after {
		call()
	}
	return nil
}

// Run runs a tenantless statement within [DB.Apply]. Each value is an int, an int64,
// a string or nil. It returns how many rows the statement changed.
type Run func(s *Hot, values ...any) (changed int64, err error)

// Apply runs statements in one transaction and commits it when do returns nil: for
// the few writes that come with every call, as beginning a transaction through
// database/sql costs more than they do. ctx bounds the wait for the writer; what
// has begun is completed. Everything else is as with [DB.Write]: do may run again,
// and must not call Write or Apply.
func (db *DB) Apply(ctx context.Context, do func(run Run) error) error {
	if db.pool != nil { // pgx keeps the prepared statements of each connection
		return db.Write(ctx, func(ctx context.Context, tx *Tx) error {
			return do(func(s *Hot, values ...any) (int64, error) { return s.ExecIn(ctx, tx, values...) })
		})
	}
	if inWrite(ctx) {
		return errNested
	}
	return db.tries(ctx, func() error {
		conn, err := db.writerConn(ctx)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		unsettled := false
		err = conn.Raw(func(raw any) (err error) { unsettled, err = raw.(*hotConn).transact(do); return err })
		_ = conn.Close() // gives the connection back
		return db.settle(unsettled, err)
	})
}

// writerConn waits for SQLite's one writer, no longer than the patience of ctx.
func (db *DB) writerConn(ctx context.Context) (*sql.Conn, error) {
	waiting, cancel := patience(ctx)
	defer cancel()
	conn, err := db.writer.Conn(waiting)
	return conn, outOfPatience(ctx, waiting, err)
}

// settle waits until what was committed is on the disk, if it is not. Others may write
// meanwhile, and wait for the same turn of the disk.
func (db *DB) settle(unsettled bool, err error) error {
	if err != nil || !unsettled {
		return err
	}
	if err := db.wal.Settle(); err != nil {
		return fmt.Errorf("%w: %w", apierr.ErrUnknown, err)
	}
	return nil
}

// Settled returns once everything that was read before the call is on the disk. It is for
// readers who tell others of numbers that a power cut would give again to something else:
// on SQLite a transaction can be read a moment before it is there, see [Tx.Unawaited].
func (db *DB) Settled(ctx context.Context) error {
	version, ok, err := db.Version(ctx)
	if err != nil || !ok || db.settled.Load() == version {
		return err
	}
	if err := db.wal.Settle(); err != nil {
		return err
	}
	db.settled.Store(version)
	return nil
}

// Epoch is part of what tells whether a reader's copy is out of date: a power cut can undo
// what was read, so that other changes get its numbers. It is empty where none can.
func (db *DB) Epoch() string {
	if db.pool != nil {
		return ""
	}
	return power.Boot()
}

// Unawaited says that no one is told of what the transaction changes, and nothing outside
// of the database follows from it: it need not be on the disk when Write returns. A power
// cut may undo it. Whatever waits for the disk later waits for this too. On PostgreSQL it
// changes nothing.
func (tx *Tx) Unawaited() { tx.unawaited = true }

// begin opens a transaction; end commits it or rolls it back, once.
func (db *DB) begin(ctx context.Context) (tx *Tx, end func(commit bool) error, err error) {
	if db.pool == nil {
		conn, err := db.writerConn(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := conn.Raw(func(raw any) error { return raw.(*hotConn).begin() }); err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
		tx = &Tx{db: db, conn: conn, pinned: conn}
		return tx, func(commit bool) error {
			unsettled := false
			err := conn.Raw(func(raw any) (err error) { unsettled, err = raw.(*hotConn).end(commit); return err })
			_ = conn.Close() // gives the connection back
			return db.settle(unsettled && !tx.unawaited, err)
		}, nil
	}
	pinned, err := db.writer.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	var open pgx.Tx
	err = pinned.Raw(func(driver any) (err error) {
		open, err = driver.(*stdlib.Conn).Conn().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, BeginQuery: db.beginWith})
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, pinned.Close())
	}
	return &Tx{db: db, conn: pinned, pinned: pinned, pgx: open}, func(commit bool) error {
		// Neither may be cut short, or no one knows what came of it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err := pinned.Raw(func(any) error {
			if commit {
				return open.Commit(ctx)
			}
			return open.Rollback(ctx)
		})
		return errors.Join(err, pinned.Close())
	}, nil
}

// Ent returns the client whose reads and writes belong to the transaction.
func (tx *Tx) Ent() *ent.Client {
	if tx.client == nil {
		tx.client = ent.NewClient(ent.Driver(&txDriver{Conn: entsql.Conn{ExecQuerier: tx.conn}, dialect: tx.db.driver.Dialect()}))
	}
	return tx.client
}

// Exec runs a statement. Placeholders are $1, $2, … on both dialects.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return tx.conn.ExecContext(ctx, query, args...)
}

// Query runs a query. Placeholders are $1, $2, … on both dialects. The tenant
// rule does not reach here: the query says itself whose rows it means.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return tx.conn.QueryContext(ctx, query, args...)
}

// Prepare prepares a statement for many runs in this transaction. Close it.
func (tx *Tx) Prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	return tx.conn.PrepareContext(ctx, query)
}

// Lock waits until no other transaction holds the same name and number, and holds
// them until this one ends; what is read afterwards is current. On SQLite it does
// nothing, as no other transaction is open.
func (tx *Tx) Lock(ctx context.Context, name string, number int64) error {
	if tx.pgx == nil {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, $2))", name, number)
	if err != nil {
		return fmt.Errorf("lock %s %d: %w", name, number, err)
	}
	return nil
}

// AfterCommit has call run once the transaction is committed, and not at all when
// it is rolled back or tried again.
func (tx *Tx) AfterCommit(call func()) { tx.after = append(tx.after, call) }

// txDriver is Ent's driver inside a transaction. What Ent would put into a
// transaction of its own joins the open one.
type txDriver struct {
	entsql.Conn
	dialect string
}

func (d *txDriver) Tx(context.Context) (dialect.Tx, error) { return dialect.NopTx(d), nil }
func (d *txDriver) Close() error                           { return nil }
func (d *txDriver) Dialect() string                        { return d.dialect }
