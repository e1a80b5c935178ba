package library

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestHotReadsAreRangesOfAnIndex holds SQLite to the plans that keep reads flat:
// the rows come sorted out of an index that has all they need. Where a list is of
// several ranges, at most a page of each is sorted.
func TestHotReadsAreRangesOfAnIndex(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for _, p := range []page{
		{list: hooks},
		{list: outliers},
		{list: outliers, kind: Own},
		{list: videos, kind: Own},
		{list: videos, kind: Own, platform: "x"},
		{list: hooks, withArchived: true},
		{list: outliers, withArchived: true},
		{list: outliers, kind: Own, withArchived: true},
		{list: videos},
		{list: videos, platform: "x", withArchived: true},
		{list: trends},
	} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			p.limit = 25
			query := p.query(db, false)
			if p.list == trends {
				query = p.trendsQuery(db.Dialect())
			}
			args := []any{[]byte{0}, "x"}
			if p.list == trends {
				args = []any{"x", []byte{0}}
			}
			if !strings.Contains(query, "$2") {
				args = args[:1]
			}
			query, args, err := db.Hot(query).Expand(viewer.As(t.Context(), account), args...)
			if err != nil {
				t.Fatal(err)
			}
			plan := planOf(t, db, query, args)
			for _, step := range plan {
				if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN v") || strings.HasPrefix(step, "SCAN d") ||
					strings.HasPrefix(step, "SEARCH v") && p.list != trends && !strings.Contains(step, "COVERING INDEX") {
					t.Errorf("got the step %q, want ranges of covering indexes, unsorted; the plan:\n%s", step, strings.Join(plan, "\n"))
				}
			}
		})
	}
}

// planOf is how SQLite runs a query.
func planOf(t *testing.T, db *store.DB, query string, args []any) (plan []string) {
	t.Helper()
	err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		return store.Scan(rows, err)(func(rows *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			plan = append(plan, detail)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestNicheReadsItsOwnVideosAlone holds SQLite to the plan that reads the videos which
// depend on a niche, not all of their kind, sorted by the index.
func TestNicheReadsItsOwnVideosAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	for _, c := range []struct {
		name      string
		statement *store.Hot
		args      []any
		want      string
	}{
		{"dated", b.hot.byNiche, []any{"tiktok", byNiche, int64(1), int64(9), endOfTime}, "by_niche=? AND posted_at>? AND posted_at<?"},
		{"undated", b.undatedByNiche(), []any{"tiktok", byNiche, startOfTime}, "by_niche=? AND posted_at=? AND id>?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			query, args, err := c.statement.Expand(b.ctx, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(planOf(t, b.db, query, args), "\n")
			if !strings.Contains(plan, c.want) || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("got the plan %s\nwant a range by %s that comes sorted", plan, c.want)
			}
		})
	}
}
