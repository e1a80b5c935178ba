package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// takes archives a reading of a video by a source, as a scroll of its own that is scored.
func (b *bundle) takes(scroll int64, source, id string, at, views int64) {
	b.t.Helper()
	r := clip(id, "maker-"+id, views)
	r.Metrics.ObservedAt, r.Metrics.Likes = &at, nil
	b.runs.subjects[scroll] = b.runs.subject
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		_, _, err := b.Archive(ctx, tx, videos.Batch{ScrollID: scroll, Subject: b.runs.subject, Stage: source, At: at, Records: []stage.Record{r}})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// thin thins the account's readings out to the end, and returns how many went.
func (b *bundle) thin(at int64) (all int) {
	b.t.Helper()
	t := thinning
	t.Unneeded = b.Unneeded
	for done := false; !done; {
		n, end, err := b.Thin(b.ctx, t, time.UnixMilli(at))
		if err != nil || n > 100 {
			b.t.Fatalf("got %d readings of a step, %v; want at most 100", n, err)
		}
		all, done = all+n, end
	}
	return all
}

// counted checks the counts of observations by source of all accounts.
func (b *bundle) counted() {
	b.t.Helper()
	counts := func(query string) (all []string) {
		b.rows(query, func(line string) { all = append(all, line) })
		return all
	}
	want := counts(`SELECT account_id, stage, COUNT(*) FROM observations GROUP BY account_id, stage ORDER BY account_id, stage`)
	if diff := gocmp.Diff(want, counts(`SELECT account_id, source, readings FROM source_counts WHERE readings <> 0 ORDER BY account_id, source`)); diff != "" {
		b.t.Errorf("counts by source (-want +got):\n%s", diff)
	}
}

// TestWhatIsHeldBySource counts what all accounts have, and one.
func TestWhatIsHeldBySource(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(8)
		b.by("api", 2, "x", "y")
		b.by("feed", 1, "x")
		other.by("api", 1, "z")
		b.sweep(31) // z is due
		got, err := b.removal.Held(t.Context())
		want := []removal.Held{{Source: "api", Accounts: 1, Readings: 2, OldestAt: now + 2*day}, {Source: "feed", Accounts: 1, Readings: 1, OldestAt: now + day}}
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("got error %v (-want +got):\n%s", err, diff)
		}
		other.by("feed", 40, "w")
		mine, err := removal.NewHoldings(db).Held(b.ctx)
		if diff := gocmp.Diff(want, mine); err != nil || diff != "" {
			t.Errorf("of one account: got error %v (-want +got):\n%s", err, diff)
		}
	})
}

// TestWhatThinningLeaves is the rule by hand: a day of a video and source has its last usable
// reading and its last after 90 days, a week after 365, and what is first, newest, cited or new stays.
func TestWhatThinningLeaves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.runs.subjects[1] = b.runs.subject
		monday := now - now%day // 2026-06-01
		scroll := int64(1000)
		take := func(source, id string, at, views int64) { // each by a scroll of its own
			scroll++
			b.takes(scroll, source, id, at, views)
		}
		at := func(d, h int64) int64 { return monday + d*day + h*hour }
		for _, h := range []int64{1, 2, 3} {
			take("feed", "a", at(0, h), 100+h)    // the first, and one that others stand for
			take("feed", "a", at(1, h), 200+h)    // two that others stand for
			take("other", "a", at(1, h+4), 300+h) // of another source: the first one stays, one goes
			take("import", "a", at(2, h), 400+h)  // of an import
			take("feed", "a", at(97, h), 500+h)   // the newest of its day is the newest of all
			take("feed", "gaps", at(3, h), 600+h) // the last of the day failed
			take("feed", "gaps", at(4, h), 0)     // all of a day failed
			take("feed", "early", at(0, h-1), 70) // the first moment of a day
		}
		take("feed", "gaps", at(3, 5), 0)
		take("feed", "early", at(1, 0), 60)
		take("feed", "early", at(1, 0), 61) // at the same time, by two scrolls
		for s := int64(1001); s <= scroll; s++ {
			b.complete(s)
		}
		left := func() string {
			var lines []string
			b.rows(`SELECT v.external_id, o.stage, o.observed_at, o.views FROM observations o JOIN videos v ON v.id = o.video_id ORDER BY 1, 2, 3, o.id`, func(line string) {
				lines = append(lines, line)
			})
			return strings.Join(lines, "\n")
		}
		all := left()
		if n := b.thin(at(99, 0)); n != 0 || left() != all {
			t.Fatalf("while all are of the newest 60 scrolls: got %d readings thinned out, want 0", n)
		}
		for i := range int64(60) { // of them, new ones
			b.takes(3000+i, "feed", fmt.Sprint("late", i%2), at(120, i), 1000+i)
			b.complete(3000 + i)
		}
		b.run(`UPDATE score_points SET flag = 1 WHERE scroll_id = 1010`) // 202 of a
		b.run(`UPDATE libraries SET swept = ''`)                         // what was needed when its turn came stays for its next
		shown := b.lists()
		if n := b.thin(at(91, 0) - 1); n != 0 {
			t.Errorf("before a whole day is 90 days old: got %d readings thinned out, want 0", n)
		}
		b.thin(at(99, 0))

		views := func(id, source string) string {
			var all []string
			b.rows(fmt.Sprintf(`SELECT o.views FROM observations o JOIN videos v ON v.id = o.video_id WHERE v.external_id = '%s' AND o.stage = '%s' ORDER BY o.observed_at, o.id`, id, source),
				func(line string) { all = append(all, strings.Trim(line, "[] ")) })
			return strings.Join(all, " ")
		}

		for _, c := range []struct{ id, source, want string }{
			{"a", "feed", "101 103 202 203 501 502 503"},
			{"a", "other", "301 303"},
			{"a", "import", "401 402 403"},
			{"gaps", "feed", "601 603 0 0"},
			{"early", "feed", "70 70 61"},
		} {
			if got := views(c.id, c.source); got != c.want {
				t.Errorf("after 99 days, %s by %s: got %s, want %s", c.id, c.source, got, c.want)
			}
		}
		if b.lists() != shown {
			t.Error("lists changed")
		}
		b.thin(at(366, 0)) // the week of at(0, 0) is not 365 days old at its end
		if got := views("a", "feed"); got != "101 103 202 203 503" {
			t.Errorf("after 366 days: got %s, want one a day and all that stays", got)
		}
		b.thin(at(373, 0))
		for _, c := range []struct{ id, source, want string }{
			{"a", "feed", "101 202 203 503"}, // a flag cites 202
			{"a", "other", "301 303"},
			{"gaps", "feed", "601 603 0"},
			{"early", "feed", "70 61"},
		} {
			if got := views(c.id, c.source); got != c.want {
				t.Errorf("after 373 days, %s by %s: got %s, want %s", c.id, c.source, got, c.want)
			}
		}
		if n := b.count("score_points p WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.video_id = p.video_id AND o.scroll_id = p.scroll_id) AND flag = 0"); n != 0 {
			t.Errorf("got %d scores of readings that went, want 0", n)
		}
		b.counted()
		if n := b.thin(at(373, 0)); n != 0 {
			t.Errorf("once more: got %d readings thinned out, want 0", n)
		}
	})
}

// shows is all that is made of readings: lists, plots, series, explanations and backtests, by
// the platform's ids.
func (b *bundle) shows() map[string]string {
	b.t.Helper()
	ids := map[string]string{}
	rows, err := b.db.Ent().Video.Query().All(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, v := range rows {
		ids[fmt.Sprint(v.ID)], ids[publicid.Format(publicid.Video, v.ID)] = v.ExternalID, v.ExternalID
	}
	shown := map[string]string{"lists": b.lists()}
	keep := func(name string, v any, err error) {
		b.t.Helper()
		if err != nil {
			b.t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		shown[name] = string(text)
	}
	plot, err := b.Plot(b.ctx, lists.Page{List: lists.Videos, Limit: lists.MostPoints, WithArchived: true})
	keep("plot", plot, err)
	runs, slices, err := b.Backtest(b.ctx, 0)
	keep("backtest", []any{runs, slices}, err)
	tested, sum, err := b.explainer.BacktestTrends(b.ctx, 3)
	keep("backtest of trends", []any{tested, sum}, err)
	for i, trend := range b.all(lists.Page{List: lists.Trends, WithArchived: true}).Trends {
		if i%5 > 0 {
			continue
		}
		series, err := b.explainer.TrendSeries(b.ctx, trend.Key)
		keep("series of "+trend.Key, series, err)
		explained, err := b.explainer.ExplainTrend(b.ctx, trend.Key)
		keep("explanation of "+trend.Key, explained.Message(), err)
	}
	for i, v := range rows {
		if i%40 > 0 {
			continue
		}
		explained, err := b.ExplainOutlier(b.ctx, publicid.Format(publicid.Video, v.ID))
		keep("explanation of "+v.ExternalID, explained.Message(), err)
	}
	return shown
}

// TestThinningChangesNothingListed archives the real series, as a library of ten months that
// scrolled every few hours, several times a day, daily and weekly, and compares all that is made of readings
// before and after they are thinned out, after a rescoring of everything, and with a library that
// keeps all after the next scroll.
func TestThinningChangesNothingListed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		whole := b.as(8)
		b.runs.subject, whole.runs.subject = "website:a.com", "website:a.com"
		var all []realReading
		for i, load := range []func(*testing.T) *set{trendingUS, tech, danish, reelsTW, shortsSeries} {
			set := load(t)
			ids := map[string]bool{}
			for j := range set.all {
				ids[set.all[j].ref] = true
			}
			every := 1
			switch { // enough of each, and not minutes of it
			case len(set.all) > 10_000:
				every = 12
			case len(set.all) > 4_000:
				every = 6
			}
			if every > 1 && !storetest.Long() {
				every *= 5
			}
			chosen := map[string]bool{}
			for n, id := range slices.Sorted(maps.Keys(ids)) {
				chosen[id] = n%every == 0
			}
			for _, r := range set.all {
				if chosen[r.ref] && (r.run%3 == 0 || set.runs < 100) {
					r.run += 1000 * (i + 1)
					all = append(all, r)
				}
			}
		}
		byRun := map[int][]stage.Record{}
		for i := range all {
			byRun[all[i].run] = append(byRun[all[i].run], all[i].record())
		}
		order := slices.SortedFunc(maps.Keys(byRun), func(x, y int) int {
			return cmp.Or(cmp.Compare(*byRun[x][0].Metrics.ObservedAt, *byRun[y][0].Metrics.ObservedAt), x-y)
		})
		newest := int64(0)
		archive := func(of *bundle, runs []int) {
			for _, run := range runs {
				at := *byRun[run][0].Metrics.ObservedAt
				of.archive(int64(run), at, byRun[run]...)
				if of.complete(int64(run)); at > newest {
					newest = at
				}
			}
		}
		last := len(order) - 1
		archive(b, order[:last])
		before, readings := b.shows(), b.count("observations WHERE account_id = 7")
		thinned := b.thin(newest + 100*day)
		t.Logf("%d scrolls, %d of %d readings thinned out", last, thinned, readings)
		if left := b.count("observations WHERE account_id = 7"); thinned < readings/20 || left != readings-thinned {
			t.Fatalf("got %d of %d readings thinned out and %d left, want a part of them that counts", thinned, readings, left)
		}
		b.open(Defaults()) // without a page in memory
		if diff := gocmp.Diff(before, b.shows()); diff != "" {
			t.Fatalf("after thinning (-before +after):\n%s", diff)
		}
		if db.Dialect() == store.Postgres {
			return // the arithmetic is the same on both databases
		}
		b.run(`UPDATE libraries SET method = 'another'`)
		if err := b.RescoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(before, b.shows()); diff != "" {
			t.Fatalf("scored again from what is left (-before +after):\n%s", diff)
		}
		archive(b, order[last:])
		archive(whole, order)
		names := func(of *bundle) (all []string) { // what is of the account alone left out
			a := of.all(lists.Page{List: lists.Outliers, WithArchived: true})
			for _, o := range a.Outliers {
				all = append(all, fmt.Sprint(o.Video.ExternalID, o.Score, o.BaselineViews, o.SampleCount))
			}
			for _, tr := range of.all(lists.Page{List: lists.Trends, WithArchived: true}).Trends {
				all = append(all, fmt.Sprint(tr.Key, tr.Label, tr.Metrics))
			}
			return all
		}
		if diff := gocmp.Diff(names(whole), names(b)); diff != "" {
			t.Errorf("after the next scroll (-a library that keeps all +this one):\n%s", diff)
		}
	})
}
