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
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// TestHotReadsAreRangesOfAnIndex holds SQLite to the plans that keep reads flat:
// the rows come sorted out of an index that has all they need. Where a list is of
// several ranges, at most a page of each is sorted.
func TestHotReadsAreRangesOfAnIndex(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for _, p := range []lists.Page{
		{List: lists.Hooks},
		{List: lists.Outliers},
		{List: lists.Outliers, Kind: videos.Own},
		{List: lists.Videos, Kind: videos.Own},
		{List: lists.Videos, Kind: videos.Own, Platform: "x"},
		{List: lists.Hooks, WithArchived: true},
		{List: lists.Outliers, WithArchived: true},
		{List: lists.Outliers, Kind: videos.Own, WithArchived: true},
		{List: lists.Videos},
		{List: lists.Videos, Platform: "x", WithArchived: true},
		{List: lists.Trends},
		{List: lists.MovingTrends},
	} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			p.Limit = 25
			query, args := p.Query(db, []byte{0})
			if p.List == lists.Trends || p.List == lists.MovingTrends {
				query, args = p.TrendsQuery(db, "x", []byte{0})
			}
			query, args, err := db.Hot(query).Expand(viewer.As(t.Context(), account), args...)
			if err != nil {
				t.Fatal(err)
			}
			plan := planOf(t, db, query, args)
			for _, step := range plan {
				if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN v") || strings.HasPrefix(step, "SCAN d") ||
					strings.HasPrefix(step, "SEARCH v") && p.List != lists.Trends && p.List != lists.MovingTrends && !strings.Contains(step, "COVERING INDEX") {
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
		{"dated", b.statement("by_niche = $2", "posted_at >= $3"), []any{"tiktok", videos.ByNiche, int64(1), int64(9), scoring.EndOfTime}, "by_niche=? AND posted_at>? AND posted_at<?"},
		{"undated", b.UndatedByNiche(), []any{"tiktok", videos.ByNiche, scoring.StartOfTime}, "by_niche=? AND posted_at=? AND id>?"},
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
