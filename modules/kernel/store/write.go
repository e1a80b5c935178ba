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
	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
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

	deferredKeys []any
	deferred     []DeferredWrite

	unchanged bool
	number    string // of the transaction at the server; known if there is a hook
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
	err := db.tries(ctx, func() error { return db.writeOnce(ctx, do) })
	if db.lite != nil && sqlite.Unable(err) { // SQLite does not say which disk is full
		return fmt.Errorf("write %s: %w", db.lite.Path(), err)
	}
	return err
}

// tries begins a transaction again that the database gave up because of another one.
func (db *DB) tries(ctx context.Context, once func() error) error {
	for try := 1; ; try++ {
		err := once()
		if postgres.LockTimeout(err) {
			return apierr.Busy(err)
		}
		if err == nil || try == writeTries || ctx.Err() != nil || !(sqlite.Busy(err) || postgres.Conflict(err)) {
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
	ended, err := tx.runHook(ctx)
	if ended != nil {
		defer func() { ended(committed) }()
	}
	if err == nil {
		err = tx.writeDeferred(ctx)
	}
	if err := errors.Join(err, ctx.Err(), db.ids.Err()); err != nil {
		return err
	}
	sent = true
	if err := end(true); err != nil {
		if db.pg == nil {
			return fmt.Errorf("commit: %w", err)
		}
		if err := db.pg.Outcome(ctx, tx.number, err); err != nil {
			return err
		}
	}
	committed = true
	db.commits.Add(1)
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

// begin opens a transaction; end commits it or rolls it back, once.
func (db *DB) begin(ctx context.Context) (tx *Tx, end func(commit bool) error, err error) {
	if db.pg == nil {
		return beginSQLite(ctx, db)
	}
	return beginPostgres(ctx, db)
}

// beginSQLite waits for SQLite's one writer, no longer than the patience of ctx.
func beginSQLite(ctx context.Context, db *DB) (tx *Tx, end func(commit bool) error, err error) {
	waiting, cancel := patience(ctx)
	defer cancel()
	conn, err := db.writer.Conn(waiting)
	if err != nil {
		return nil, nil, outOfPatience(ctx, waiting, err)
	}
	// Not a transaction of database/sql, which would roll it back by itself when the caller's
	// context ends, and let what runs below it run outside of any transaction.
	within := context.WithoutCancel(ctx)
	if _, err := conn.ExecContext(within, "BEGIN IMMEDIATE"); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return &Tx{db: db, conn: conn, pinned: conn}, func(commit bool) error {
		defer conn.Close() //nolint:errcheck // gives the connection back
		if !commit {
			_, err := conn.ExecContext(within, "ROLLBACK")
			return err
		}
		_, err := conn.ExecContext(within, "COMMIT")
		if err != nil {
			_, _ = conn.ExecContext(within, "ROLLBACK") // fails if SQLite has rolled back by itself
		}
		return err
	}, nil
}

func beginPostgres(ctx context.Context, db *DB) (tx *Tx, end func(commit bool) error, err error) {
	pinned, err := db.writer.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	var open pgx.Tx
	err = pinned.Raw(func(driver any) (err error) {
		open, err = driver.(*stdlib.Conn).Conn().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, BeginQuery: db.pg.BeginWith})
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

// Lock waits until no other transaction holds the same name and number, and holds
// them until this one ends; what is read afterwards is current. On SQLite it does
// nothing, as no other transaction is open.
func (tx *Tx) Lock(ctx context.Context, name string, number int64) error {
	return tx.lock(ctx, "pg_advisory_xact_lock", name, number)
}

// ShareLock is Lock beside other transactions that share the name and number: it waits for those
// that Lock them.
func (tx *Tx) ShareLock(ctx context.Context, name string, number int64) error {
	return tx.lock(ctx, "pg_advisory_xact_lock_shared", name, number)
}

func (tx *Tx) lock(ctx context.Context, function, name string, number int64) error {
	if tx.pgx == nil {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT "+function+"(hashtextextended($1, $2))", name, number)
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
