package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

const (
	// schemaPoll is the time between two tries for the lock of the schema.
	schemaPoll = 100 * time.Millisecond
	// schemaWord is the time between two log lines of a process that waits for it.
	schemaWord = 5 * time.Second
)

// Migrate brings the database to the schema of this binary, the job queue's tables
// included. Any number of processes may call it at once: one works, and the others
// wait until it is done or ctx ends, and log what they wait for. A database that is
// newer than the binary is not touched; then the error wraps ErrSchemaNew.
func (db *DB) Migrate(ctx context.Context) error {
	found, err := db.SchemaVersion(ctx)
	if err == nil {
		err = found.Err()
	}
	if m := (migration{db}); errors.Is(err, ErrSchemaOld) {
		bring := m.sqlite
		if db.pg != nil {
			bring = m.postgres
		}
		var changed bool
		began := time.Now()
		if changed, err = bring(ctx); changed && err == nil {
			db.log.InfoContext(ctx, "the schema of the database was changed", "from", found.String(), "to", found.expected(), "took", time.Since(began).Round(time.Millisecond))
		}
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// RequireSchema fails with ErrSchemaOld or ErrSchemaNew where the database does not
// fit this binary. It changes nothing.
func (db *DB) RequireSchema(ctx context.Context) error {
	found, err := db.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	return found.Err()
}

// migration is one change of the schema.
type migration struct{ *DB }

// newer looks again, under the lock: another process may have migrated meanwhile.
func (db migration) newer(ctx context.Context) error {
	if err := db.RequireSchema(ctx); err != nil && !errors.Is(err, ErrSchemaOld) {
		return err
	}
	return nil
}

// await calls try until it succeeds, fails or ctx ends, and logs why it waits. holder
// describes what has the lock, where that can be known.
func (db migration) await(ctx context.Context, try func() (bool, error), holder func() string) error {
	begun, said := time.Now(), time.Time{}
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		if time.Since(said) >= schemaWord {
			said = time.Now()
			db.log.InfoContext(ctx, "waiting for another process that changes the schema of the database",
				"holder", holder(), "waited", time.Since(begun).Round(time.Second).String())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for another process that changes the schema, %s: %w", holder(), ctx.Err())
		case <-time.After(schemaPoll):
		}
	}
}

// sqlite works on a connection of its own without foreign keys. changed is false if another
// process did the work.
func (db migration) sqlite(ctx context.Context) (changed bool, err error) {
	path := filepath.Join(db.cfg.DataDir, "migrate.lock")
	var lock *flock.Lock
	err = db.await(ctx, func() (bool, error) {
		lock, err = flock.Try(path)
		if errors.Is(err, flock.ErrLocked) {
			return false, nil
		}
		return true, err
	}, func() string { return "which holds " + path })
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := db.newer(ctx); err != nil {
		return false, err
	}
	conn := db.lite.Rebuilder()
	defer func() { err = errors.Join(err, conn.Close()) }()
	applied, err := up(ctx, SQLite, goose.DialectSQLite3, conn)
	if err != nil || applied == 0 {
		return false, err
	}
	rows, err := conn.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return true, fmt.Errorf("check foreign keys: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		return true, errors.New("rows refer to rows that do not exist; see PRAGMA foreign_key_check")
	}
	return true, rows.Err()
}

// up returns how many migrations it applied.
func up(ctx context.Context, dialect string, gooseDialect goose.Dialect, conn *sql.DB) (int, error) {
	files, err := ent.Migrations(dialect)
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(gooseDialect, conn, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, err
	}
	applied, err := provider.Up(ctx)
	return len(applied), err
}
