package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/scrollery/scrollery/ent/migrate"
)

// Migrate brings the database to the schema of this binary. Any number of
// processes may call it at once. A database that is newer than the binary is left
// as it is.
func (db *DB) Migrate(ctx context.Context) error {
	if db.pool == nil {
		return db.migrateSQLite(ctx)
	}
	if err := db.migratePostgres(ctx); err != nil {
		return err
	}
	return db.startNode(ctx)
}

func (db *DB) migratePostgres(ctx context.Context) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := up(ctx, Postgres, goose.DialectPostgres, db.writer, goose.WithSessionLocker(locker)); err != nil {
		return err
	}
	river, err := rivermigrate.New(riverpgxv5.New(db.pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate queue: %w", err)
	}
	if _, err := river.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate queue: %w", err)
	}
	return nil
}

// migrateSQLite works on a connection of its own without foreign keys: a table
// that is rebuilt would otherwise empty the tables that refer to it.
func (db *DB) migrateSQLite(ctx context.Context) (err error) {
	lock, err := lockFile(ctx, filepath.Join(db.cfg.DataDir, "migrate.lock"))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	conn, err := sql.Open("sqlite", sqliteDSN(db.sqlitePath(), readerCache, "_pragma=foreign_keys(0)&_txlock=immediate"))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)
	applied, err := up(ctx, SQLite, goose.DialectSQLite3, conn)
	if err != nil || applied == 0 {
		return err
	}
	rows, err := conn.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return fmt.Errorf("check foreign keys: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		return errors.New("migrate: rows refer to rows that do not exist; see PRAGMA foreign_key_check")
	}
	return rows.Err()
}

// up returns how many migrations it applied.
func up(ctx context.Context, dialect string, gooseDialect goose.Dialect, conn *sql.DB, opts ...goose.ProviderOption) (int, error) {
	files, err := migrate.Files(dialect)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	provider, err := goose.NewProvider(gooseDialect, conn, files, append(opts, goose.WithDisableGlobalRegistry(true))...)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	applied, err := provider.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return len(applied), nil
}
