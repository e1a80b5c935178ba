package library

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestLargeWindowsAreExplainedFromWhatIsStored compares the explanation of each key of a
// window as measured and as stored.
func TestLargeWindowsAreExplainedFromWhatIsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(7, 8))
		daily := func(r *rand.Rand, today int64, known []stage.Record) []stage.Record {
			records := daily(r, today, known)
			for i := range records[len(known):] { // two tags of the same videos
				v := &records[len(known)+i]
				v.Metadata = bytes.Replace(v.Metadata, []byte(`"tag1"`), []byte(`"tag1","twin"`), 1)
			}
			return records
		}
		known := daily(r, 0, nil)
		b.scroll(1, now, known...)
		for today := range int64(3) {
			next := daily(r, today+1, known)
			b.scroll(today+2, now+(today+1)*day, next...)
			known = next
		}
		for _, id := range []string{"1-3", "2-7", "3-11", "3-12"} {
			if _, err := b.edits.ArchiveVideo(b.ctx, b.idOf(id), false, true); err != nil {
				t.Fatal(err)
			}
		}
		w, err := b.Window(b.ctx, b.runs.subject)
		if err != nil || w == nil {
			t.Fatalf("got window %v, error %v; want one", w, err)
		}
		listed, dropped := w.Rank(false)
		explain := func(key string, most int) *insight.TrendExplanation {
			t.Helper()
			b.explainer.MostMeasured = most
			e, err := b.explainer.ExplainTrend(b.ctx, key)
			if err != nil || e == nil {
				t.Fatalf("explain %s: got %v, error %v; want an explanation", key, e, err)
			}
			return e
		}
		overlaps := func(all []score.CommonKey) (keys []string) {
			for _, k := range all {
				if k.Drop == score.Overlaps {
					keys = append(keys, k.Key+" below "+k.By)
				}
			}
			return keys
		}
		seen := map[string]int{}
		for _, k := range append(listed, dropped...) {
			want, got := explain(k.Key, 1_000_000), explain(k.Key, 1)
			if want.IsStored || !got.IsStored {
				t.Fatalf("%s: got stored %t and %t, want false and true", k.Key, want.IsStored, got.IsStored)
			}
			seen[got.Outcome()]++
			if diff := cmp.Diff(want.Totals, got.Totals); diff != "" {
				t.Fatalf("%s: totals (-measured +stored):\n%s", k.Key, diff)
			}
			if got.NotStored {
				if want.Drop == score.Kept || want.Drop == score.Overlaps {
					t.Errorf("%s, which is %s: got not stored, want it stored", k.Key, want.Outcome())
				}
				continue
			}
			if diff := cmp.Diff(want.Trend, got.Trend, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-measured +stored):\n%s", k.Key, diff)
			}
			if diff := cmp.Diff(want.Members, got.Members); diff != "" {
				t.Errorf("%s: videos (-measured +stored):\n%s", k.Key, diff)
			}
			if diff := cmp.Diff(overlaps(want.Dropped), overlaps(got.Dropped)); diff != "" {
				t.Errorf("%s: dropped keys (-measured +stored):\n%s", k.Key, diff)
			}
			b.recomputeKey(got.Message())
			series := func(most int) *insight.TrendSeries {
				b.explainer.MostMeasured = most
				s, err := b.explainer.TrendSeries(b.ctx, k.Key)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			if diff := cmp.Diff(series(1_000_000), series(1)); diff != "" {
				t.Errorf("%s: series (-measured +stored):\n%s", k.Key, diff)
			}
		}
		if seen["listed"] == 0 || seen["overlaps"] == 0 || seen["not_stored"] == 0 {
			t.Errorf("the test tests little: got outcomes %v, want some listed, overlaps and not_stored", seen)
		}
		if e := explain("hashtag:nobody", 1); !e.NotStored || e.Outcome() != "not_stored" {
			t.Errorf("an unknown key of a large window: got %s, want not_stored", e.Outcome())
		}
	})
}

// TestExplainingATrendCosts measures what explaining a key costs in windows of some sizes,
// measured and stored.
func TestExplainingATrendCosts(t *testing.T) {
	measured(t)
	for _, size := range sizes() {
		b := setup(t, storetest.SQLite(t))
		for run := range int64(2) {
			for from := 0; from < size; from += 2000 {
				records := wide(from, 2000, size/20, now)
				for i := range records {
					records[i].PostedAt, records[i].Metrics.ObservedAt = ptr(now-int64(i%12)*day), ptr(now+run*day+int64(i))
				}
				b.archive(run+1, now+run*day, records...)
			}
			b.complete(run + 1)
		}
		w, err := b.Window(b.ctx, b.runs.subject)
		if err != nil {
			t.Fatal(err)
		}
		listed, _ := w.Rank(false)
		for _, most := range []int{10_000_000, 1} {
			b.explainer.MostMeasured = most
			began := used()
			for _, k := range listed[:5] {
				if e, err := b.explainer.ExplainTrend(b.ctx, k.Key); err != nil || e == nil || e.IsStored != (most == 1) {
					t.Fatalf("explain %s: got %+v, error %v; want stored %t", k.Key, e, err, most == 1)
				}
			}
			t.Logf("%d videos in the window, %d trends, stored %v: %v an explanation", w.Videos(), len(listed), most == 1, ((used() - began) / 5).Round(10*time.Microsecond))
		}
	}
}

// TestWindowsWithoutMultiplesAreNotRead lets scrolls of new videos alone lie months apart:
// no window has a multiple, so that none but the shortest is read. What reads videos again
// widens it.
func TestWindowsWithoutMultiplesAreNotRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		at := func(run int64) int64 { return now + run*40*day }
		scroll := func(b *bundle, run int64, names ...string) (oldest int64) {
			var records []stage.Record
			for _, name := range names {
				one := clip(name, name, 1000+run)
				one.Metrics.ObservedAt = ptr(at(run))
				records = append(records, one)
			}
			b.archive(run, at(run), records...)
			oldest = scoring.EndOfTime
			b.db.Trace(func(_ context.Context, s *store.Hot, args []any) {
				if strings.HasPrefix(s.Text(), "SELECT video_id, scroll_id, observed_at") {
					oldest = min(oldest, args[1].(int64))
				}
			})
			b.complete(run)
			b.db.Trace(nil)
			return oldest
		}
		for _, c := range []struct {
			name   string
			run    int64
			videos []string
			span   int64
		}{
			{"the first", 1, []string{"a", "b"}, score.ShortestSpan},
			{"new ones", 2, []string{"c", "d"}, score.ShortestSpan},
			{"one again is too few", 3, []string{"c", "e"}, score.ShortestSpan},
			{"two again", 4, []string{"c", "e"}, 4 * score.ShortestSpan},
		} {
			t.Run(c.name, func(t *testing.T) {
				if got, want := scroll(b, c.run, c.videos...), at(c.run)-2*c.span; got != want {
					t.Errorf("got readings after %d days before T, want %d", (at(c.run)-got)/day, (at(c.run)-want)/day)
				}
				w, err := b.Window(b.ctx, b.runs.subject)
				if err != nil {
					t.Fatal(err)
				}
				if got := w.Totals().Span; got != c.span {
					t.Errorf("got a span of %d days, want %d", got/day, c.span/day)
				}
			})
		}
		t.Run("runs of an earlier version", func(t *testing.T) {
			other := b.as(account + 1)
			scroll(other, 1, "a", "b")
			b.run(`UPDATE library_runs SET repeats = NULL`)
			// No scroll has readings that are older.
			if got, want := scroll(other, 2, "c"), at(2)-8*score.ShortestSpan; got != want {
				t.Errorf("got readings after %d days before T, want %d", (at(2)-got)/day, (at(2)-want)/day)
			}
		})
	})
}
