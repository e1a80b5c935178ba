package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The rows of each table with an account, when PostgreSQL plans: so many accounts have so
// many rows each, and more in the tables that grow with the library. Tables with one row an
// account have those of other accounts too, whose numbers are above planOthers.
const planAccounts, planRows, planLibrary, planOthers = 10, 1_000, 4_000, 1_000_000

// growing are the tables that grow with the library.
var growing = []string{"videos", "video_docs", "video_terms", "observations", "scroll_records", "verdicts", "changes", "creators"}

// acrossOnPostgres are statements that name their rows and yet read more.
var acrossOnPostgres = []excuse{
	{`DELETE FROM "uncounted_videos"`, "a job empties this table, which has few rows"},
	{`DELETE FROM observations WHERE account_id = ? AND video_id IN (…)`, deletesMany},
	{`DELETE FROM score_points WHERE account_id = ? AND video_id IN (…)`, deletesMany},
	{`DELETE FROM frames WHERE account_id = ? AND video_id IN (…)`, deletesMany},
	{`FROM "score_points" WHERE "score_points"."video_id" IN (…)`, deletesMany},
	{`UPDATE "library_runs" SET "repeats" = NULL`, deletesMany},
}

// deletesMany: of as few rows as here, all of a tenant cost less than 200 searches.
const deletesMany = "a deletion of up to 100 videos has indexes for them, and takes them once there are more rows"

// planOnPostgres returns the statements that name rows and for which PostgreSQL's generic
// plan, the one that a prepared statement ends with, reads others: a whole table, or all
// rows of the tenant. It also returns those of a tenant that pass through a whole index.
func planOnPostgres(t *testing.T, queries []string) map[string]string {
	t.Helper()
	db, faults := storetest.Postgres(t), map[string]string{}
	spread(t, db)
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		for _, setting := range []string{
			"plan_cache_mode = force_generic_plan",
			"random_page_cost = 1.1", // what is read often is in memory
			"jit = off",
		} {
			if _, err := tx.Exec(ctx, "SET LOCAL "+setting); err != nil {
				return err
			}
		}
		first, owned, err := firstColumns(ctx, tx)
		if err != nil {
			return err
		}
		for i, query := range queries {
			if !isPlanned.MatchString(query) {
				continue
			}
			plan, err := genericPlan(ctx, tx, fmt.Sprint("planned_", i), wide(query))
			if err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			step := ""
			if namesRows(query) {
				step = plan.reads(owned)
			}
			if step == "" && !excused(withoutTenant, map[string]bool{}, query) {
				step = plan.passes(first, owned)
			}
			if step != "" {
				faults[query] = step
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// isPlanned matches what PostgreSQL can prepare.
var isPlanned = regexp.MustCompile(`(?i)^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// planNode is a step of PostgreSQL's plan.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Cond     string     `json:"Index Cond"`
	Filter   string     `json:"Filter"`
	Plans    []planNode `json:"Plans"`
}

// firstColumns are the columns with which the indexes of tenants' tables begin, and the
// tables, which are those with an account.
func firstColumns(ctx context.Context, tx *store.Tx) (first map[string]string, owned map[string]bool, err error) {
	first, owned = map[string]string{}, map[string]bool{}
	err = store.Scan(tx.Query(ctx, `SELECT i.indrelid::regclass::text, c.relname, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE c.relnamespace = current_schema()::regnamespace AND EXISTS (SELECT 1 FROM pg_attribute o WHERE o.attrelid = i.indrelid AND o.attname = 'account_id')`))(func(rows *sql.Rows) error {
		var table, index, column string
		err := rows.Scan(&table, &index, &column)
		first[index], owned[table] = column, true
		return err
	})
	return first, owned, err
}

// tenantOnly is the condition of an index that reads all rows of a tenant.
var tenantOnly = regexp.MustCompile(`^\(?\(?account_id = (\$\d+|\w+\.account_id)\)?(::bigint)?\)?$`)

// reads returns the step that reads rows which are not named; "" for none.
func (n planNode) reads(owned map[string]bool) string {
	switch {
	case n.Type == "Seq Scan" && owned[n.Relation]:
		return "scans " + n.Relation
	case strings.Contains(n.Type, "Index") && (n.Cond == "" || tenantOnly.MatchString(n.Cond)) && (owned[n.Relation] || n.Relation == ""):
		return fmt.Sprintf("%s by %s: %q", n.Type, n.Index, n.Cond)
	}
	for _, below := range n.Plans {
		if step := below.reads(owned); step != "" {
			return step
		}
	}
	return ""
}

// anyWord is the name of a column, or another word of a condition.
var anyWord = regexp.MustCompile(`\w+`)

// passes returns the step that passes through a whole table or index of tenants' rows; "" for none.
func (n planNode) passes(first map[string]string, owned map[string]bool) string {
	switch {
	case n.Type == "Seq Scan" && owned[n.Relation]:
		return "scans " + n.Relation
	case strings.Contains(n.Type, "Index") && first[n.Index] != "" && !slices.Contains(anyWord.FindAllString(n.Cond, -1), first[n.Index]):
		return fmt.Sprintf("%s through all of %s: %q", n.Type, n.Index, n.Cond)
	}
	for _, below := range n.Plans {
		if step := below.passes(first, owned); step != "" {
			return step
		}
	}
	return ""
}

func genericPlan(ctx context.Context, tx *store.Tx, name, query string) (planNode, error) {
	places := 0
	for _, place := range anyPlace.FindAllString(query, -1) {
		number, _ := strconv.Atoi(place[1:])
		places = max(places, number)
	}
	if _, err := tx.Exec(ctx, "PREPARE "+name+" AS "+query); err != nil {
		return planNode{}, err
	}
	values := ""
	if places > 0 {
		values = "(NULL" + strings.Repeat(",NULL", places-1) + ")"
	}
	var text []byte
	err := store.Scan(tx.Query(ctx, "EXPLAIN (FORMAT JSON) EXECUTE "+name+values))(func(rows *sql.Rows) error { return rows.Scan(&text) })
	if err != nil {
		return planNode{}, err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return planNode{}, fmt.Errorf("read the plan: %w: %s", err, text)
	}
	return plans[0].Plan, nil
}

// spread fills every table with an account, for the planner alone: the rows mean nothing.
func spread(t *testing.T, db *store.DB) {
	t.Helper()
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		// Neither foreign keys nor triggers.
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		names, values := map[string][]string{}, map[string][]string{}
		err := store.Scan(tx.Query(ctx, `SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position`))(func(rows *sql.Rows) error {
			var table, column, kind string
			if err := rows.Scan(&table, &column, &kind); err != nil {
				return err
			}
			names[table] = append(names[table], `"`+column+`"`)
			values[table] = append(values[table], planValue(column, kind))
			return nil
		})
		if err != nil {
			return err
		}
		for _, table := range slices.Sorted(maps.Keys(names)) {
			if !slices.Contains(names[table], `"account_id"`) {
				continue
			}
			rows := planAccounts * planRows
			if slices.Contains(growing, table) {
				rows = planAccounts * planLibrary
			}
			fill := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(%%d, %%d) g ON CONFLICT DO NOTHING",
				table, strings.Join(names[table], ", "), strings.ReplaceAll(strings.Join(values[table], ", "), "%", "%%"))
			again, err := withoutIndexes(ctx, tx, table)
			if err != nil {
				return fmt.Errorf("drop the indexes of %s: %w", table, err)
			}
			filled, err := tx.Exec(ctx, fmt.Sprintf(fill, 1, rows))
			if err != nil {
				return fmt.Errorf("fill %s: %w", table, err)
			}
			if n, _ := filled.RowsAffected(); n <= 10*planAccounts { // few rows an account: here there are more of them
				if _, err := tx.Exec(ctx, fmt.Sprintf(fill, planOthers+1, planOthers+rows)); err != nil {
					return fmt.Errorf("fill %s: %w", table, err)
				}
			}
			for _, statement := range append(again, "ANALYZE "+table) {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withoutIndexes drops the indexes of a table that are not unique, and returns what makes them
// again: at once, when the table is full, this takes a fifth of the time.
func withoutIndexes(ctx context.Context, tx *store.Tx, table string) (again []string, err error) {
	var drops []string
	err = store.Scan(tx.Query(ctx, `SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = $1::regclass AND NOT indisunique`, table))(func(rows *sql.Rows) error {
		var name, definition string
		err := rows.Scan(&name, &definition)
		drops, again = append(drops, "DROP INDEX "+name), append(again, definition)
		return err
	})
	for _, drop := range drops {
		if err == nil {
			_, err = tx.Exec(ctx, drop)
		}
	}
	return again, err
}

// planValue is the value of a column in row g. Most differ from row to row; those of an
// enumeration are few.
func planValue(column, kind string) string {
	few := slices.Contains([]string{"kind", "platform", "status", "action", "archived", "listed", "with_archived"}, column)
	switch {
	case column == "account_id":
		return fmt.Sprintf("CASE WHEN g > %d THEN g ELSE 1 + g %% %d END", planOthers, planAccounts)
	case column == "size": // of data, below
		return "16"
	case kind == "boolean":
		return "g / 10 % 2 = 0"
	case kind == "bytea":
		return "decode(lpad(to_hex(g), 32, '0'), 'hex')"
	case kind == "jsonb" || kind == "json":
		return "'{}'"
	case kind == "text" || kind == "character varying":
		if few {
			return "'x' || g / 20 % 3"
		}
		return "'x' || g"
	case few:
		return "g / 10 % 2"
	case slices.Contains([]string{"scroll_id", "video_id", "creator_id"}, column):
		return "g / 40"
	}
	return "g"
}
