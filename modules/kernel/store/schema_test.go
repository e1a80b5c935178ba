package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func TestSchemaVersionComparesDatabaseAndBinary(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		read := func() store.Schema {
			t.Helper()
			s, err := db.SchemaVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		fits := read()
		if err := fits.Err(); err != nil || fits.Current == 0 {
			t.Errorf("migrated: got %+v and error %v, want equal versions above 0", fits, err)
		}
		if queue := fits.QueueExpected > 0; queue != (db.Dialect() == store.Postgres) {
			t.Errorf("migrated: got queue version %d on %s", fits.QueueExpected, db.Dialect())
		}

		storetest.Exec(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)", fits.Expected+1, true)
		newer := fits
		newer.Current++
		if diff := cmp.Diff(newer, read()); diff != "" {
			t.Errorf("after a newer release migrated: -want +got\n%s", diff)
		}
		err := newer.Err()
		if !errors.Is(err, store.ErrSchemaNew) || !strings.Contains(err.Error(), newer.String()) || !strings.Contains(err.Error(), fits.String()) {
			t.Errorf("newer schema: got error %v, want one with both versions", err)
		}

		storetest.Exec(t, db, "DELETE FROM goose_db_version WHERE version_id >= $1", fits.Expected)
		older := fits
		older.Current = storetest.Count(t, db, "SELECT max(version_id) FROM goose_db_version") // numbers may have gaps
		if diff := cmp.Diff(older, read()); diff != "" {
			t.Errorf("before the newest migration: -want +got\n%s", diff)
		}
		if err := older.Err(); !errors.Is(err, store.ErrSchemaOld) || !strings.Contains(err.Error(), "scrollery migrate") {
			t.Errorf("older schema: got error %v, want one that names the command", err)
		}

		storetest.Exec(t, db, "DROP TABLE goose_db_version")
		if got := read().Current; got != 0 {
			t.Errorf("without migrations: got version %d, want 0", got)
		}
	})
}
