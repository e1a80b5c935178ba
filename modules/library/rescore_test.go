package library

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/plugins/stage"
)

// run executes SQL as it is, outside of the tenant's rule.
func (b *bundle) run(query string, args ...any) {
	b.t.Helper()
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, query, args...)
		return store.Scan(rows, err)(func(*sql.Rows) error { return nil })
	})
	if err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
}

// lists are all lists, as texts.
func (b *bundle) lists() string {
	b.t.Helper()
	var shown []any
	for _, p := range []lists.Page{{List: lists.Outliers}, {List: lists.Outliers, WithArchived: true}, {List: lists.Trends}, {List: lists.Trends, WithArchived: true}, {List: lists.Hooks}} {
		shown = append(shown, b.all(p))
	}
	return look(shown)
}

// recorded is a library with creators by id and by handle, hooks and trends.
func recorded(t *testing.T, b *bundle) {
	t.Helper()
	for run := range int64(3) {
		var records []stage.Record
		for i := range 40 {
			one := clip(fmt.Sprint("v", i), fmt.Sprint("H", i%7), int64(100+i*i)*(run+1))
			one.PostedAt, one.Metrics.ObservedAt = ptr(now-int64(i%12)*day), ptr(now+run*day)
			if i%7 == 3 {
				one.CreatorID = "channel"
			}
			one.Metrics.Likes = ptr(int64(i))
			one.Metadata = fmt.Appendf(nil, `{"hashtags":["Tag%d"],"durationSeconds":%d}`, i%3, i)
			one.Evidence = &stage.Evidence{Spoken: ptr(fmt.Sprint("The same twenty letters for all, ", i%2))}
			records = append(records, one)
		}
		b.scroll(run+1, now+run*day, records...)
	}
}

func TestLibraryOfAFormerVersionIsScoredAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		recorded(t, b)
		want := b.lists()
		// As the version before left it: other keys of creators, and none of the new columns.
		b.run(`UPDATE creators SET key = CASE WHEN key LIKE 'id:%' THEN SUBSTR(key, 4) ELSE SUBSTR(key, 8) END`)
		b.run(`UPDATE videos SET growth_kind = '', duration = NULL, handle = '', handle_only = 0, usable_likes = NULL, peers = 0, own_views = 0, by_niche = 0,
twice_baseline = 0, sample_count = 0, doubtful = 0, score = 0, hook_changed_at = 0, opening = '', outlier_order = NULL, hook_order = SUBSTR(hook_order, 2)`)
		b.run(`UPDATE video_docs SET keys = ''`)
		b.run(`DELETE FROM library_runs`)
		b.run(`DELETE FROM niches`)
		b.run(`UPDATE libraries SET method = ''`)
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, b.lists()); diff != "" {
			t.Errorf("after the rescoring (-want +got):\n%s", diff)
		}
		row := db.Ent().Library.Query().OnlyX(b.ctx)
		if row.Method != scoring.Method(score.DefaultTable()) || row.RescoreStep != 0 {
			t.Errorf("got method %q at step %d, want %q at 0", row.Method, row.RescoreStep, scoring.Method(score.DefaultTable()))
		}
	})
}

func TestAnotherGrowthTableScoresLibrariesAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		recorded(t, b)
		cfg := Defaults()
		cfg.Growth = &score.Table{Version: "flat", Hours: []int64{1, 2}, Rows: map[score.Kind][]int64{score.OtherRow: {1000, 1000}}}
		method := scoring.Method(cfg.Growth.With(nil))
		before := b.lists()
		b.open(cfg)
		stops := b.rescoreWithStops()
		// The numbers are those of rescoreSteps: 2 is rerun, which is stored after each scroll.
		for _, want := range []string{"step 0", "step 2", "step 2 after a scroll", "step 3", "step 4", "step 5"} {
			if !stops[want] {
				t.Errorf("got stops at %v, want one at %s too", slices.Sorted(maps.Keys(stops)), want)
			}
		}
		if row := db.Ent().Library.Query().OnlyX(b.ctx); row.Method != method || row.RescoreStep != 0 {
			t.Errorf("got method %q at step %d, want %q at 0", row.Method, row.RescoreStep, method)
		}
		got := b.lists()
		if got == before {
			t.Errorf("another table: got the lists of before, want other scores: %s", got)
		}
		fresh := setup(t, db).as(account + 1)
		fresh.open(cfg)
		fresh.runs.subject = b.runs.subject
		recorded(t, fresh)
		scores := func(b *bundle) (list []string) {
			for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
				list = append(list, fmt.Sprint(o.Video.ExternalID, " ", o.Score, " ", o.BaselineViews, " ", o.SampleCount))
			}
			return list
		}
		if diff := gocmp.Diff(scores(fresh), scores(b)); diff != "" {
			t.Errorf("scores (-scored by that table at once +scored again):\n%s", diff)
		}
	})
}

// TestRescoringByOtherRulesBeginsAgain stops a rescoring by a flat table after the creators,
// then goes on with a third table, stops that too, and returns to the first.
func TestRescoringByOtherRulesBeginsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		recorded(t, b)
		want := b.lists()
		by := func(version string, share int64) {
			t.Helper()
			cfg := Defaults()
			cfg.Growth = &score.Table{Version: version, Hours: []int64{1, 240}, Rows: map[score.Kind][]int64{score.OtherRow: {share, 1000}}}
			if version == "" {
				cfg = Defaults()
			}
			b.open(cfg)
		}
		stopAt := func(step int) {
			t.Helper()
			defer db.Trace(nil)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			db.Trace(func(context.Context, *store.Hot, []any) {
				if b.db.Ent().Library.Query().OnlyX(b.ctx).RescoreStep >= step {
					stop()
				}
			})
			if err := b.RescoreAll(ctx); err == nil {
				t.Fatalf("got a rescoring that finished, want it stopped in step %d", step)
			}
			if got := b.lists(); got == want {
				t.Fatalf("got the scores of before in step %d, want others", step)
			}
		}
		by("flat", 1000)
		stopAt(5)
		by("steep", 10)
		stopAt(5)
		by("", 0)
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, b.lists()); diff != "" {
			t.Errorf("back at the first table (-want +got):\n%s", diff)
		}
		by("steep", 10)
		stopAt(5)
		by("flat", 1000)
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := b.lists()
		b.run(`UPDATE libraries SET method = 'another', rescore_step = 0, rescored_to = 0`)
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(b.lists(), got); diff != "" {
			t.Errorf("after a stop by another table (-want, from the start +got):\n%s", diff)
		}
	})
}

// rescoreWithStops scores the library again, and stops at the first hot statement, then at
// the second from there, and so on until nothing is left to do. It returns where stops left
// the rescoring.
func (b *bundle) rescoreWithStops() map[string]bool {
	b.t.Helper()
	defer b.db.Trace(nil)
	stops := map[string]bool{}
	for allowed := 0; ; allowed++ {
		ctx, stop := context.WithCancel(b.t.Context())
		left := allowed
		b.db.Trace(func(context.Context, *store.Hot, []any) {
			if left--; left < 0 {
				stop()
			}
		})
		err, stopped := b.RescoreAll(ctx), ctx.Err() != nil
		stop()
		switch {
		case err == nil:
			return stops
		case !stopped:
			b.t.Fatalf("rescore with %d statements: %v", allowed, err)
		}
		row := b.db.Ent().Library.Query().OnlyX(b.ctx)
		at := fmt.Sprint("step ", row.RescoreStep)
		if row.RescoredTo > 0 {
			at += " after a scroll"
		}
		if !stops[at] { // what is left has fewer statements: begin with its first one
			allowed = -1
		}
		stops[at] = true
	}
}

// TestRescoringWritesOnlyWhatChanges has videos with a baseline by their creator and such by
// the niche, with and without a creator and a posting time.
func TestRescoringWritesOnlyWhatChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		recorded(t, b)
		var records []stage.Record
		for i := range 20 {
			one := clip(fmt.Sprint("thin", i), fmt.Sprint("T", i/2), int64(500*(i+1)))
			one.PostedAt, one.Metrics.ObservedAt = ptr(now-int64(i)*day), ptr(now+3*day)
			if i%5 == 0 {
				one.PostedAt = nil
			}
			if i%7 == 0 {
				one.Source = nil
			}
			records = append(records, one)
		}
		b.scroll(4, now+3*day, records...)
		byNiche, err := db.Ent().Video.Query().Where(video.ByNiche(1), video.TwiceBaselineGT(0)).Count(b.ctx)
		if err != nil || byNiche < 15 {
			t.Fatalf("got %d videos with a baseline by the niche, error %v; want at least 15", byNiche, err)
		}
		want, written := b.lists(), 0
		b.db.Trace(func(_ context.Context, s *store.Hot, _ []any) {
			if strings.HasPrefix(s.Text(), "UPDATE videos SET peers") {
				written++
			}
		})
		rescore := func() int {
			written = 0
			b.run(`UPDATE libraries SET method = 'another'`)
			if err := b.RescoreAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			return written
		}
		if got := rescore(); got != 0 {
			t.Errorf("rescoring by the same rules: got %d scores written, want 0", got)
		}
		b.run(`UPDATE videos SET twice_baseline = 6, score = 77, outlier_order = NULL WHERE by_niche = 1`)
		if got := rescore(); got != byNiche {
			t.Errorf("rescoring wrong scores: got %d written, want each of the %d once", got, byNiche)
		}
		if diff := gocmp.Diff(want, b.lists()); diff != "" {
			t.Errorf("after the rescoring (-want +got):\n%s", diff)
		}
	})
}

// TestShortsOfListsAreMended: the migration empties the kind of those that an earlier version
// took for long videos, and the rescoring finds it by their address.
func TestShortsOfListsAreMended(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		short := clip("abcdefghijk", "beans", 100)
		short.Platform, short.SourceURL = "youtube", "https://www.youtube.com/shorts/abcdefghijk"
		b.scroll(1, now, short)
		kind := func() string { return db.Ent().Video.Query().OnlyX(b.ctx).GrowthKind }
		if got := kind(); got != string(score.YouTubeShort) {
			t.Errorf("a Short without a length is %s, want %s", got, score.YouTubeShort)
		}
		b.run(`UPDATE videos SET growth_kind = 'youtube_long'`)
		migration, err := os.ReadFile("../../ent/migrate/" + map[string]string{store.SQLite: "sqlite", store.Postgres: "postgres"}[db.Dialect()] + "/0024_shorts_of_lists.sql")
		if err != nil {
			t.Fatal(err)
		}
		for statement := range strings.SplitSeq(string(migration), ";\n") {
			if strings.Contains(statement, "UPDATE") {
				b.run(statement[strings.Index(statement, "UPDATE"):])
			}
		}
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := kind(); got != string(score.YouTubeShort) {
			t.Errorf("after the rescoring it is %s, want %s", got, score.YouTubeShort)
		}
	})
}
