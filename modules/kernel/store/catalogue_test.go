package store_test

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// uniqueKeys are the unique keys of the tables with an account, such as `keys (hash)` or, on
// PostgreSQL, `keys (id primary)`, and how
// many such tables there are. On SQLite a primary key of one number is the number of the row,
// and not among them.
func uniqueKeys(t *testing.T, db *store.DB) (keys []string, tables int) {
	t.Helper()
	of := `SELECT m.name, coalesce((SELECT group_concat(name, ',') FROM (SELECT c.name FROM pragma_index_info(i.name) c ORDER BY c.seqno)), '')
		FROM sqlite_master m LEFT JOIN pragma_index_list(m.name) i ON i."unique" = 1
		WHERE m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'account_id') ORDER BY 1, 2`
	if db.Dialect() == store.Postgres {
		of = `SELECT c.relname, coalesce((SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY k (number, n)
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number WHERE k.n <= i.indnkeyatts), '') || CASE WHEN i.indisprimary THEN ' primary' ELSE '' END
		FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
			AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id') ORDER BY 1, 2`
	}
	seen := map[string]bool{}
	storetest.Rows(t, db, func(rows *sql.Rows) error {
		var table, columns string
		err := rows.Scan(&table, &columns)
		seen[table] = true
		if columns != "" {
			keys = append(keys, table+" ("+columns+")")
		}
		return err
	}, of)
	return keys, len(seen)
}

// TestUniqueKeysHaveTheAccount: what divides tables by account, native partitions or Citus,
// asks for the account in every unique key. It comes first, but for the primary keys of
// some tables of PostgreSQL: see ent/migrate/diff.
func TestUniqueKeysHaveTheAccount(t *testing.T) {
	t.Parallel()
	// Known before the account is.
	unknown := map[string]string{
		"keys (hash)":                                          "a call brings a key, and nothing else",
		"codes (link_hash)":                                    "a visitor brings a link",
		"checkouts (session)":                                  "the payment provider brings its own name of a checkout",
		"checkouts (token_hash)":                               "a visitor brings a claim",
		"authorizations (secret_hash)":                         "an agent brings a secret",
		"credit_entries (reference)":                           "a payment counts once, for one account",
		"quota_entries (plugin,quota,ends_at,account_id,item)": "what a site allows is spent by all accounts together",
	}
	// On PostgreSQL, the tables that are not divided by account.
	whole := map[string]string{
		"keys (id primary)":           "looked up before the account is known",
		"codes (id primary)":          "may have no account",
		"checkouts (id primary)":      "may have no account",
		"authorizations (id primary)": "may have no account",
		"credit_entries (id primary)": "a payment counts once, for one account",
		"quota_entries (id primary)":  "of a site, for all accounts",
		"usage_events (id primary)":   "may have no account; divided by ranges of id, which follow time",
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		keys, tables := uniqueKeys(t, db)
		if tables < 35 || len(keys) < 20 { // or nothing is seen
			t.Fatalf("got %d keys of %d tables, want at least 20 of 35", len(keys), tables)
		}
		want := maps.Clone(unknown)
		if db.Dialect() == store.Postgres {
			maps.Copy(want, whole)
		}
		var without []string
		for _, key := range keys {
			_, columns, _ := strings.Cut(key, " (")
			isPrimary := db.Dialect() == store.Postgres && columns == "id,account_id primary)"
			if !strings.HasPrefix(columns, "account_id") && !isPrimary {
				without = append(without, key)
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(without))); diff != "" {
			t.Errorf("unique keys without the account in its place, want - got +:\n%s", diff)
		}
	})
}

// TestTablesCanBeDivided makes each table that is divided by account one of partitions, with
// all of its keys: PostgreSQL refuses a key that lacks what divides.
func TestTablesCanBeDivided(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	var tables []string
	storetest.Rows(t, db, func(rows *sql.Rows) error {
		var table string
		err := rows.Scan(&table)
		tables = append(tables, table)
		return err
	}, `SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = 'account_id'
		WHERE c.relnamespace = current_schema()::regnamespace ORDER BY 1`)
	if len(tables) < 25 {
		t.Fatalf("got %d tables with the account in the primary key, want at least 25: %v", len(tables), tables)
	}
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			storetest.Exec(t, db, fmt.Sprintf("CREATE TABLE divided_%[1]s (LIKE %[1]s INCLUDING ALL) PARTITION BY HASH (account_id)", table))
			storetest.Exec(t, db, fmt.Sprintf("CREATE TABLE divided_%[1]s_0 PARTITION OF divided_%[1]s FOR VALUES WITH (MODULUS 2, REMAINDER 0)", table))
		})
	}
}
