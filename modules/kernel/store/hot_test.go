package store_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestHotRefusesTextsWithoutTheirMark(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for name, text := range map[string]string{
		"a read of all tenants":         "SELECT id FROM workspaces WHERE id = $1",
		"the column typed by hand":      "SELECT id FROM workspaces WHERE {tenant} AND account_id = 1",
		"the column in another case":    "SELECT id FROM workspaces WHERE {tenant} AND Account_ID = $1",
		"only the column's mark":        "SELECT id FROM workspaces WHERE {owner} = $1",
		"the account of a read":         "SELECT {account} FROM workspaces",
		"an insert for no account":      "INSERT INTO workspaces (id, {owner}) VALUES ($1, $2)",
		"an insert of rows as they are": "INSERT INTO workspaces (id, {owner}) VALUES {values:1}",
		"rows outside of an insert":     "UPDATE workspaces SET id = 1 FROM (VALUES {rows:1}) AS n",
		"an unknown mark":               "SELECT id FROM workspaces WHERE {tenant} AND {tennant}",
		"an argument 0":                 "SELECT id FROM workspaces WHERE {tenant} AND id = $0",
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("prepared: %s, want one", text)
				}
			}()
			db.Hot(text)
		})
	}
	t.Run("no tenant and no reason", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("got a statement without a tenant and a reason, want a panic")
			}
		}()
		db.HotTenantless("SELECT id FROM workspaces", "")
	})
	t.Run("no tenant but its mark", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("got a tenantless statement with the mark of a tenant, want a panic")
			}
		}()
		db.HotTenantless("SELECT id FROM workspaces WHERE {tenant}", "a test")
	})
}

func TestHotExpandsItsMarks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), tenantA)
		for _, c := range []struct {
			name, text       string
			args             []any
			sqlite, postgres string
			values, numbered []any
		}{
			{
				name: "a condition and arguments that recur", text: "SELECT 1 FROM t v WHERE {tenant:v} AND a = $2 AND b = $1 AND c = $2 AND {tenant}",
				args:   []any{"x", "y"},
				sqlite: "SELECT 1 FROM t v WHERE v.account_id = ? AND a = ? AND b = ? AND c = ? AND account_id = ?", values: []any{tenantA, "y", "x", "y", tenantA},
				postgres: "SELECT 1 FROM t v WHERE v.account_id = $1 AND a = $2 AND b = $3 AND c = $2 AND account_id = $1", numbered: []any{tenantA, "y", "x"},
			},
			{
				name: "an insert", text: "INSERT INTO t (id, {owner}) VALUES ($1, {account}) ON CONFLICT ({owner}) DO NOTHING", args: []any{5},
				sqlite:   "INSERT INTO t (id, account_id) VALUES (?, ?) ON CONFLICT (account_id) DO NOTHING",
				postgres: "INSERT INTO t (id, account_id) VALUES ($1, $2) ON CONFLICT (account_id) DO NOTHING", values: []any{5, tenantA}, numbered: []any{5, tenantA},
			},
			{
				name: "an insert of rows", text: "INSERT INTO t ({owner}, a, b) VALUES {rows:1}", args: []any{[][]any{{1, 2}, {3, nil}}},
				sqlite: "INSERT INTO t (account_id, a, b) VALUES (?,?,?),(?,?,?)", values: []any{tenantA, 1, 2, tenantA, 3, nil},
				postgres: "INSERT INTO t (account_id, a, b) VALUES ($1,$2,$3),($1,$4,$5)", numbered: []any{tenantA, 1, 2, 3, nil},
			},
			{
				name: "an update from values", text: "UPDATE t SET a = n.column2 FROM (VALUES {values:1 BIGINT,BYTES}) AS n WHERE t.id = n.column1 AND {tenant:t}",
				args:     []any{[][]any{{1, "a"}, {2, "b"}}},
				sqlite:   "UPDATE t SET a = n.column2 FROM (VALUES (CAST(? AS BIGINT),CAST(? AS BLOB)),(?,?)) AS n WHERE t.id = n.column1 AND t.account_id = ?",
				postgres: "UPDATE t SET a = n.column2 FROM (VALUES (CAST($1 AS BIGINT),CAST($2 AS BYTEA)),($3,$4)) AS n WHERE t.id = n.column1 AND t.account_id = $5",
				values:   []any{1, "a", 2, "b", tenantA}, numbered: []any{1, "a", 2, "b", tenantA},
			},
			{
				name: "the key of a row", text: "INSERT INTO t ({owner}, id) VALUES {rows:1} ON CONFLICT ({key}) DO NOTHING", args: []any{[][]any{{5}}},
				sqlite: "INSERT INTO t (account_id, id) VALUES (?,?) ON CONFLICT (id) DO NOTHING", values: []any{tenantA, 5},
				postgres: "INSERT INTO t (account_id, id) VALUES ($1,$2) ON CONFLICT (id, account_id) DO NOTHING", numbered: []any{tenantA, 5},
			},
			{
				name: "lists", text: "SELECT 1 FROM t WHERE {tenant} AND id IN ({list:1}) AND a IN ({list:2}) AND b IN ({list:3})",
				args:   []any{[]int64{7, -8}, []string{"x", "y"}, []string{}},
				sqlite: "SELECT 1 FROM t WHERE account_id = ? AND id IN (7,-8) AND a IN (?,?) AND b IN (NULL)", values: []any{tenantA, "x", "y"},
				postgres: "SELECT 1 FROM t WHERE account_id = $1 AND id IN (7,-8) AND a IN ($2,$3) AND b IN (NULL)", numbered: []any{tenantA, "x", "y"},
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				query, values, err := db.Hot(c.text).Expand(ctx, c.args...)
				if err != nil {
					t.Fatal(err)
				}
				wantQuery, wantValues := c.sqlite, c.values
				if db.Dialect() == store.Postgres {
					wantQuery, wantValues = c.postgres, c.numbered
				}
				if query != wantQuery {
					t.Errorf("got  %s\nwant %s", query, wantQuery)
				}
				if diff := cmp.Diff(wantValues, values); diff != "" {
					t.Errorf("values, want - got +:\n%s", diff)
				}
			})
		}
		t.Run("too few arguments are an error", func(t *testing.T) {
			if query, _, err := db.Hot("SELECT 1 FROM t WHERE {tenant} AND a = $2").Expand(ctx, 1); err == nil {
				t.Errorf("got %s, want an error", query)
			}
		})
		t.Run("a text is prepared once and listed", func(t *testing.T) {
			one := db.Hot("SELECT 2 FROM t WHERE {tenant}")
			if other := db.Hot(one.Text()); other != one {
				t.Errorf("the same text gives another statement: got %v, want %v", other, one)
			}
			for _, s := range db.Hots() {
				if s == one {
					return
				}
			}
			t.Errorf("got a list without %q, want it listed", one.Text())
		})
	})
}

func TestHotRunsForItsTenantOnly(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, b := viewer.As(t.Context(), tenantA), viewer.As(t.Context(), tenantB)
		id := db.NewID()
		insert := db.Hot("INSERT INTO workspaces ({owner}, id, competitors, created_at, updated_at) VALUES {rows:1}")
		read := db.Hot("SELECT id FROM workspaces w WHERE w.created_at = $2 AND updated_at = $1 AND {tenant:w} LIMIT 10")
		listed := db.Hot("SELECT id FROM workspaces WHERE {tenant} AND id IN ({list:1})")
		update := db.Hot("UPDATE workspaces SET updated_at = $1 WHERE {tenant}")
		write := func(ctx context.Context, s *store.Hot, args ...any) (changed int64) {
			t.Helper()
			err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				changed, err = s.ExecIn(ctx, tx, args...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return changed
		}
		ids := func(rows *sql.Rows, err error) (found []int64) {
			t.Helper()
			err = store.Scan(rows, err)(func(rows *sql.Rows) error {
				var id int64
				err := rows.Scan(&id)
				found = append(found, id)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if got := write(a, insert, [][]any{{id, "[]", 5, 6}}); got != 1 {
			t.Fatalf("the owner inserts %d rows, want 1", got)
		}
		for range 3 {
			if diff := cmp.Diff([]int64{id}, ids(read.Query(a, 6, 5))); diff != "" {
				t.Fatalf("the owner reads, want - got +:\n%s", diff)
			}
		}
		if diff := cmp.Diff([]int64{id}, ids(listed.Query(a, []int64{id, 1}))); diff != "" {
			t.Errorf("the owner reads by a list, want - got +:\n%s", diff)
		}
		for name, got := range map[string][]int64{"by values": ids(read.Query(b, 6, 5)), "by a list": ids(listed.Query(b, []int64{id}))} {
			t.Run(name, func(t *testing.T) {
				if len(got) > 0 {
					t.Errorf("another tenant reads %v, want nothing", got)
				}
			})
		}
		if got := write(b, update, 7); got != 0 {
			t.Errorf("another tenant changes %d rows, want 0", got)
		}
		each, err := store.Query[int64](a, read, 6, 5)
		if diff := cmp.Diff([]int64{id}, each); err != nil || diff != "" {
			t.Errorf("each, err %v, want - got +:\n%s", err, diff)
		}
		if got := write(a, update, 7); got != 1 {
			t.Errorf("the owner changes %d rows, want 1", got)
		}
		for name, ctx := range map[string]context.Context{"no viewer": t.Context(), "the system": viewer.System(t.Context())} {
			t.Run(name, func(t *testing.T) {
				if rows, err := read.Query(ctx, 6, 5); err == nil {
					t.Errorf("got %v, want a refusal", rows)
				}
			})
		}
		if rows, err := db.Hot("SELECT nothing FROM workspaces WHERE {tenant}").Query(a); err == nil {
			t.Errorf("a wrong statement reads %v, want an error", rows)
		}
		all := db.HotTenantless("SELECT id FROM workspaces WHERE {owner} IN ($1, $2)", "a test of all tenants")
		if diff := cmp.Diff([]int64{id}, ids(all.Query(t.Context(), tenantA, tenantB))); diff != "" {
			t.Errorf("a statement without a tenant, want - got +:\n%s", diff)
		}
	})
}

// TestUpdatesOfRowsChangeTheirRows has arguments in an order of their own, and in use twice.
func TestUpdatesOfRowsChangeTheirRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, b := viewer.As(t.Context(), tenantA), viewer.As(t.Context(), tenantB)
		ids := []int64{db.NewID(), db.NewID(), db.NewID(), db.NewID()}
		insert := db.Hot("INSERT INTO creators ({owner}, id, platform, key, handle, dirty, followers) VALUES {rows:1}")
		update := db.Hot("UPDATE creators SET followers = CAST($3 AS BIGINT) + $4, handle = $1 WHERE id = $2 AND +{tenant} AND dirty <= $4 AND $3 > 0")
		var changed int64
		err := db.Write(a, func(ctx context.Context, tx *store.Tx) error {
			if _, err := insert.ExecIn(ctx, tx, [][]any{{ids[0], "p", "0", "", 1, 1}, {ids[1], "p", "1", "", 1, 1}, {ids[2], "p", "2", "", 6, 1}}); err != nil {
				return err
			}
			if _, err := insert.ExecIn(b, tx, [][]any{{ids[3], "p", "3", "", 1, 1}}); err != nil {
				return err
			}
			var err error
			changed, err = update.ExecRows(ctx, tx, [][]any{{"a", ids[1], 20, 5}, {"b", ids[0], 10, 5}, {"c", ids[2], 30, 5}, {"d", ids[3], 40, 5}, {"e", ids[0], 0, 5}})
			return err
		})
		if err != nil || changed != 2 {
			t.Fatalf("got %d changed rows, err %v, want 2: one is marked too often, one another tenant's, one refused by its value", changed, err)
		}
		type row struct {
			ID        int64
			Handle    string
			Followers int64
		}
		read := db.HotTenantless("SELECT id, handle, followers FROM creators WHERE {owner} IN ($1, $2) ORDER BY id", "a test of all tenants")
		got, err := store.Query[row](t.Context(), read, tenantA, tenantB)
		want := []row{{ids[0], "b", 15}, {ids[1], "a", 25}, {ids[2], "", 1}, {ids[3], "", 1}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("err %v, want - got +:\n%s", err, diff)
		}
	})
}
