package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// Copy is what the SQLite database of a folder has that no server uses.
type Copy struct {
	Schema Schema
	// Rows are the numbers of rows of CopyTables in their order; -1 for a table that it lacks.
	Rows []int64
}

// CopyTables returns the tables that CheckCopy counts.
func CopyTables() []string {
	return []string{"accounts", "keys", "scrolls", "videos", "observations", "collections", "webhooks", "tombstones", "suppressions"}
}

// CheckCopy reads the whole database of a folder, and fails if it is damaged. A schema that does not
// fit is no error: see [Schema.Err].
func CheckCopy(ctx context.Context, dir string) (c Copy, err error) {
	pool, err := sqlite.OpenCopy(ctx, dir)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := sqlite.QuickCheck(ctx, pool); err != nil {
		return c, err
	}
	if c.Schema, err = expectedSchema(SQLite); err != nil {
		return c, err
	}
	var version sql.NullInt64
	if err := pool.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version); err != nil {
		return c, fmt.Errorf("it is no database of Scrollery: %w", err)
	}
	c.Schema.Current = version.Int64
	for _, table := range CopyTables() {
		var there int
		n := int64(-1) // an older schema may lack it
		err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1", table).Scan(&there)
		if err == nil && there > 0 {
			err = pool.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n)
		}
		if err != nil {
			return c, fmt.Errorf("count %s: %w", table, err)
		}
		c.Rows = append(c.Rows, n)
	}
	return c, nil
}

// CopyDatabase has SQLite write the database of a folder, as a whole, to a path where no file is yet.
func CopyDatabase(ctx context.Context, dir, path string) error {
	pool, err := sqlite.OpenCopy(ctx, dir)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "VACUUM INTO $1", path)
	return errors.Join(err, pool.Close())
}
