package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/scrollery/scrollery/ent"
)

// What is wrong with a schema; the errors of [Schema.Err] wrap them.
var (
	ErrSchemaOld = errors.New("the database has an older schema than this release needs")
	ErrSchemaNew = errors.New("the database has a newer schema than this release knows")
)

// Schema compares the database with this binary. A version is the number of a
// migration; 0 stands for none.
type Schema struct {
	// Current is the newest migration in the database, Expected the newest one that
	// this binary has.
	Current, Expected int64
	// QueueCurrent and QueueExpected are the same for the job queue's own tables,
	// which PostgreSQL has; 0 on SQLite.
	QueueCurrent, QueueExpected int64
}

// Err is nil if the database fits this binary.
func (s Schema) Err() error {
	switch {
	case s.Current > s.Expected || s.QueueCurrent > s.QueueExpected:
		return fmt.Errorf("%w: it has %s, and this release knows %s; install the newer release", ErrSchemaNew, s, s.expected())
	case s.Current < s.Expected || s.QueueCurrent < s.QueueExpected:
		return fmt.Errorf("%w: it has %s, and this release needs %s; run `scrollery migrate`", ErrSchemaOld, s, s.expected())
	}
	return nil
}

// String is the database's version, such as `version 3` or `version 3, queue 6`.
func (s Schema) String() string { return versionText(s.Current, s.QueueCurrent) }

func (s Schema) expected() string { return versionText(s.Expected, s.QueueExpected) }

func versionText(version, queue int64) string {
	if queue == 0 {
		return fmt.Sprintf("version %d", version)
	}
	return fmt.Sprintf("version %d, queue %d", version, queue)
}

// SchemaVersion reads the version of the database's schema. It changes nothing and
// works on an empty database.
func (db *DB) SchemaVersion(ctx context.Context) (Schema, error) {
	s, err := expectedSchema(db.Dialect())
	if err != nil {
		return s, err
	}
	if s.Current, err = db.newest(ctx, "goose_db_version", "SELECT max(version_id) FROM goose_db_version WHERE is_applied"); err == nil && db.pg != nil {
		s.QueueCurrent, err = db.newest(ctx, "river_migration", "SELECT max(version) FROM river_migration")
	}
	if err != nil {
		return s, fmt.Errorf("read the schema's version: %w", err)
	}
	return s, nil
}

// newest returns the number that a query of a table selects, 0 without the table.
func (db *DB) newest(ctx context.Context, table, query string) (int64, error) {
	find := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1"
	if db.pg != nil {
		find = "SELECT count(to_regclass($1))"
	}
	var found int
	if err := db.reader.QueryRowContext(ctx, find, table).Scan(&found); err != nil || found == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err := db.reader.QueryRowContext(ctx, query).Scan(&version)
	return version.Int64, err
}

// expectedSchema has the versions that this binary was built with.
func expectedSchema(dialect string) (s Schema, err error) {
	files, err := ent.Migrations(dialect)
	if err != nil {
		return s, err
	}
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		number, err := goose.NumericComponent(path)
		s.Expected = max(s.Expected, number)
		return err
	})
	if err != nil || dialect != Postgres {
		return s, err
	}
	queue, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return s, err
	}
	for _, version := range queue.AllVersions() {
		s.QueueExpected = max(s.QueueExpected, int64(version.Version))
	}
	return s, nil
}
