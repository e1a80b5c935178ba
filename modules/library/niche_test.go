package library

import (
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/ent/niche"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestWhatANicheLeavesBehindIsScoredByTheQueue: of a large niche a scroll scores what it
// touched; its kind stays marked until the job has scored the others.
func TestWhatANicheLeavesBehindIsScoredByTheQueue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, m := setup(t, db), newModel()
		m.isBehind = true // no scroll completes
		platforms := []string{"tiktok", "youtube", "instagram"}
		archive := func(scroll int64, each int, views int64) {
			var records []stage.Record
			for i := range each * len(platforms) {
				one := clip(fmt.Sprint("v", scroll, "-", i), fmt.Sprint("h", scroll, "-", i), views+int64(i))
				one.Platform = platforms[i%len(platforms)]
				records = append(records, one)
			}
			b.archive(scroll, now, records...)
			m.take(scroll, now, records)
		}
		marked := func() (kinds int) {
			kinds, err := b.db.Ent().Niche.Query().Where(niche.DirtyGT(0)).Count(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			return kinds
		}
		jobs := map[string]string{store.SQLite: "jobs", store.Postgres: "river_job"}[db.Dialect()] + " WHERE kind = '" + scoring.NicheJob + "'"

		archive(1, 12, 100)
		if err := b.ScoreMarked(b.ctx, scoring.NicheInScroll); err != nil {
			t.Fatal(err)
		}
		check(t, "marks after a scroll that scores all", marked(), 0)
		check(t, "jobs after it", b.count(jobs), 0)
		m.compare(b, "all scored", 25)

		archive(2, 8, 50)
		if err := b.ScoreMarked(b.ctx, 0); err != nil {
			t.Fatal(err)
		}
		check(t, "marks after a scroll that leaves the others", marked(), len(platforms))
		check(t, "jobs after it", b.count(jobs), 1)
		if err := b.FinishNiches(b.ctx, fmt.Appendf(nil, `{"account":%d}`, account)); err != nil {
			t.Fatal(err)
		}
		check(t, "marks after the job", marked(), 0)
		m.compare(b, "the others scored", 25)
	})
}
