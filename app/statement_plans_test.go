package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	entschema "entgo.io/ent/dialect/sql/schema"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/operator"
)

// statements collects the text of every statement that databases are sent, one of each form.
type statements struct {
	mu   sync.Mutex
	seen map[string]string // a statement by its form
}

var (
	// inList is a list of values, bound or written out.
	inList = regexp.MustCompile(`(?i) IN \(((?:\?|\$\d+|-?\d+)(?:, ?(?:\?|\$\d+|-?\d+))*)\)`)
	// moreRows are rows, the first one apart.
	moreRows  = regexp.MustCompile(`(?i)(VALUES ?)(\((?:[^()]|\([^()]*\))*\))((?:, ?\((?:[^()]|\([^()]*\))*\))+)`)
	anyPlace  = regexp.MustCompile(`\$\d+`)
	anyNumber = regexp.MustCompile(`\b\d+\b`)
	anyTable  = regexp.MustCompile("(?i)\\b(?:FROM|JOIN|INTO|UPDATE)\\s+[\"`]?(\\w+)[\"`]?")
	boundTo   = regexp.MustCompile("(?i)account_id[\"`]? ?= ?(?:\\?|\\$\\d+)")
	insertOf  = regexp.MustCompile("(?is)^\\s*INSERT INTO [\"`]?\\w+[\"`]? \\([^)]*account_id")
)

// wide is a statement with lists and rows of 200.
func wide(query string) string {
	query = inList.ReplaceAllStringFunc(query, func(list string) string {
		first := inList.FindStringSubmatch(list)[1]
		first, _, _ = strings.Cut(first, ",")
		return " IN (" + strings.Repeat(first+",", 199) + first + ")"
	})
	query = moreRows.ReplaceAllStringFunc(query, func(rows string) string {
		part := moreRows.FindStringSubmatch(rows)
		return part[1] + part[2] + strings.Repeat(","+part[2], 199)
	})
	numbers := map[string]string{} // without gaps, which the lists may have left
	return anyPlace.ReplaceAllStringFunc(query, func(place string) string {
		if numbers[place] == "" {
			numbers[place] = "$" + strconv.Itoa(len(numbers)+1)
		}
		return numbers[place]
	})
}

// form is what a statement shares with others that differ in their values alone.
func form(query string) string {
	query = inList.ReplaceAllString(query, " IN (…)")
	query = moreRows.ReplaceAllString(query, "$1$2")
	return anyNumber.ReplaceAllString(anyPlace.ReplaceAllString(query, "?"), "0")
}

func (s *statements) add(query string) {
	key := form(query)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.seen[key]; !known {
		s.seen[key] = query
	}
}

func (s *statements) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.seen))
}

// tenantTables are the tables with an account.
func tenantTables() map[string]bool {
	owned := map[string]bool{}
	for _, table := range migrate.Tables {
		owned[table.Name] = slices.ContainsFunc(table.Columns, func(c *entschema.Column) bool { return c.Name == "account_id" })
	}
	return owned
}

// excuse is why a statement may do what others may not.
type excuse struct{ form, why string }

// withoutTenant are statements on tables with an account that bind none, by a part of
// their form.
var withoutTenant = []excuse{
	{`WHERE FALSE`, "names no row"},
	{`FROM "recurrences" WHERE "recurrences"."next_at" <= ?`, "the schedule looks for what is due, of all tenants"},
	{`FROM "import_parts" WHERE "import_parts"."created_at" < ?`, "a job deletes parts that an import has left, of all tenants"},
	{`FROM "imports" WHERE "imports"."status" IN (…) AND "imports"."heartbeat_at" <= ?`, "a job looks for lost imports, of all tenants"},
	{`FROM "charges" WHERE "charges"."beat_at" <= ?`, "a job settles the charges whose process was lost, of all tenants"},
	{`"scrolls"."attempt", "scrolls"."heartbeat_at" FROM "scrolls"`, "a job looks for lost scrolls, of all tenants"},
	{`FROM "subscriptions" WHERE "subscriptions"."account_id" IN (…)`, "a job reads the plans of accounts that it names"},
	{`FROM libraries WHERE account_id = ANY(?::bigint[])`, "calls of several tenants that were admitted ask together, each for the revision of its own"},
	{`FROM libraries WHERE method <> ?`, "a job looks for libraries to score again"},
	{`FROM tombstones t`, "the log of removals is made of what all tenants have"},
	{`FROM unscored_libraries WHERE account_id > ?`, "a job looks for libraries to be scored without what was deleted"},
	{`FROM libraries WHERE account_id > ?`, "a job sweeps the libraries of all tenants"},
	{`"deletions"."status" = ? AND "deletions"."undo_until" > ?`, "a job ends deletions that can not be undone any more, of all tenants"},
	{`FROM uncounted_videos WHERE account_id > ?`, "a job looks for trends to be counted"},
	{`WHERE k.hash = ?`, "a call is identified by its key, and all else is of the key's account"},
	{`FROM webhooks w JOIN feeds f ON f.account_id = w.account_id`, "the dispatcher looks for webhooks with news, of all tenants"},
	{`FROM "checkouts" WHERE`, "a checkout comes before its account"},
	{`FROM "authorizations" WHERE`, "an agent signs in before its account is known"},
	{`FROM "shares" WHERE "shares"."token_hash" = ?`, "a visitor brings an address, and all else is of the share's account"},
	{`FROM "shares" WHERE "shares"."expires_at" <= ?`, "a job deletes shares that have ended, of all tenants"},
	{`FROM "codes" WHERE`, "a code is asked for by a visitor without a key"},
	{`FROM "keys" WHERE "keys"."parent_id" IS NOT NULL`, "a job deletes expired sessions, of all tenants"},
	{`FROM "quota_entries" WHERE "quota_entries"."plugin" = ?`, "what a site grants is shared: a tenant's share is what the others leave"},
	{`FROM "quota_entries" WHERE "quota_entries"."ends_at"`, "a job deletes old entries of sites' quotas"},
	{`FROM "usage_events" WHERE "usage_events"."id" < ?`, "a job deletes old events, of all tenants"},
	{`FROM "webhook_deliveries" WHERE "webhook_deliveries"."id" < ?`, "a job deletes old deliveries, of all tenants"},
	{`FROM feeds WHERE trim_at <= ?`, "a job looks for feeds with old changes, of all tenants"},
	{`WITH events AS (INSERT INTO usage_events (id, account_id`, "each event brings its account"},
	{`FROM "verdicts" WHERE "verdicts"."dropped" AND "verdicts"."judged_at" < ?`, "a job deletes old drops, of all tenants"},
}

// acrossTenant are statements that name their rows and yet read more of the tenant.
var acrossTenant = []excuse{
	{`"subscriptions"."account_id" IN (…)`, "an account has one row or few"},
	{`DELETE FROM "uncounted_videos"`, "a job empties this table, which has few rows"},
}

// acrossInJobs are the same of jobs, on each database; they run now and then: not each test
// sees them.
var acrossInJobs = []excuse{
	{`FROM "checkouts" WHERE "checkouts"."status" IN (…)`, "a job looks through the checkouts, of which there are few"},
}

func excused(excuses []excuse, used map[string]bool, query string) bool {
	text := strings.ReplaceAll(form(query), "`", `"`)
	for _, e := range excuses {
		if strings.Contains(text, e.form) {
			used[e.form] = true
			return true
		}
	}
	return false
}

// checkStatements holds each statement to its tenant, and the plan of each to the rows it
// names.
func checkStatements(t *testing.T, dialect string, queries []string) {
	t.Helper()
	owned, used := tenantTables(), map[string]bool{}
	var ours []string
	for _, query := range queries {
		tables := anyTable.FindAllStringSubmatch(query, -1)
		if slices.ContainsFunc(tables, func(m []string) bool { return owned[strings.ToLower(m[1])] }) {
			ours = append(ours, query)
		}
	}
	if len(ours) < 100 { // or nothing is seen
		t.Fatalf("saw %d statements on tenants' tables, want at least 100", len(ours))
	}
	t.Logf("%d statements, %d on tenants' tables", len(queries), len(ours))
	for _, query := range ours {
		if !boundTo.MatchString(query) && !insertOf.MatchString(query) && !excused(withoutTenant, used, query) {
			t.Errorf("got %s, want it to bind the account", form(query))
		}
	}
	plans, excuses := planOnSQLite, acrossTenant
	if dialect == store.Postgres {
		plans, excuses = planOnPostgres, acrossOnPostgres
	}
	for query, fault := range plans(t, ours) {
		if !excused(excuses, used, query) && !excused(acrossInJobs, used, query) {
			t.Errorf("got the plan %s, want one that reads only the tenant's rows:\n\t%s", fault, form(query))
		}
	}
	for _, e := range excuses { // jobs, which the others excuse, run now and then
		if !used[e.form] {
			t.Errorf("got the excuse of %q, which no statement needs; want it out of the list", e.form)
		}
	}
}

// namesRows reports whether a statement says which rows it is about.
func namesRows(query string) bool {
	return inList.MatchString(query) || strings.Contains(query, "(VALUES") || idIs.MatchString(query)
}

var idIs = regexp.MustCompile("(?i)\\b[\"`]?id[\"`]? ?= ?(?:\\?|\\$\\d+)")

// searchOf is a step of SQLite's plan: the table, and the columns that the index is asked for.
var searchOf = regexp.MustCompile(`^(SCAN|SEARCH) (\w+)(?: .*?\((.*)\))?`)

// planOnSQLite returns the statements that name rows and read others, with the step that does.
func planOnSQLite(t *testing.T, queries []string) map[string]string {
	t.Helper()
	db, faults := storetest.SQLite(t), map[string]string{}
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		for _, query := range queries {
			text := wide(query)
			places := strings.Count(text, "?")
			for _, n := range anyPlace.FindAllString(text, -1) {
				number, _ := strconv.Atoi(n[1:])
				places = max(places, number)
			}
			rows, err := tx.Query(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, places)...)
			err = store.Scan(rows, err)(func(rows *sql.Rows) error {
				var id, parent, unused int
				var step string
				if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
					return err
				}
				part := searchOf.FindStringSubmatch(step)
				if part == nil || !namesRows(query) || strings.Contains(step, "CONSTANT ROW") || isRowsOf(query, part[2]) {
					return nil
				}
				if part[1] == "SCAN" || part[3] == "account_id=?" {
					faults[query] = step
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// isRowsOf reports whether a name stands for rows that the statement brings along.
func isRowsOf(query, name string) bool {
	return regexp.MustCompile(`\) AS ` + regexp.QuoteMeta(name) + `\b`).MatchString(query)
}

// importSome runs an import, whose command has a database of its own, twice.
func importSome(t *testing.T, running *apptest.Running, owner *apptest.Caller) {
	t.Helper()
	var lines strings.Builder
	for n := range 30 {
		fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"imported-%d","creatorId":"c%d","source":{"kind":"own","handle":"beans%d"},"metrics":{"views":%d,"observedAt":1760000000000,"followers":1000}}`+"\n",
			n, n/9, n%5, 100+n) // three of the last: what they usually have is said by creators alike
	}
	for range 2 {
		_, err := running.Operator().Import(t.Context(), operator.ImportOrder{
			Email: owner.Email, InputFiles: operator.InputFiles{Paths: []string{"-"}, Input: strings.NewReader(lines.String())},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
