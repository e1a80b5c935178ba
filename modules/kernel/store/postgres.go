package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// openPostgres opens one pool that Ent, statements and the queue share.
func (db *DB) openPostgres(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(db.cfg.DatabaseURL)
	if err != nil {
		return errors.New("database address: not a valid postgres:// address") // never shows the password
	}
	cfg.MaxConns = int32(max(16, 4*runtime.GOMAXPROCS(0)))
	if db.cfg.MaxConns > 0 {
		cfg.MaxConns = int32(db.cfg.MaxConns)
	}
	if db.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	if err := db.pool.Ping(ctx); err != nil {
		db.pool.Close()
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	db.writer = stdlib.OpenDBFromPool(db.pool)
	db.reader = db.writer
	db.driver = entsql.OpenDB(dialect.Postgres, db.writer)
	if db.jobs, err = newRiverInserter(db.pool, db.log); err != nil {
		db.pool.Close()
		return err
	}
	return nil
}

// conflict reports whether PostgreSQL gave the transaction up for another's sake.
func conflict(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	return fault.Code == "40001" || fault.Code == "40P01" // serialization_failure, deadlock_detected
}
