package library

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// watched are readings of a run: creators with a few or many videos, known by id, by handle or by
// both, with tags, hooks and followers.
func watched(r *rand.Rand, run int64) (records []stage.Record) {
	for creator := range 6 {
		for n := range 3 + creator {
			id := fmt.Sprintf("%d-%d", creator, n)
			rec := dated(id, "", int64(20+n), now+run*day, int64(1000*(n+1)*(int(run)+1)+r.IntN(500)))
			rec.Source = &stage.Source{Kind: "competitor", Handle: fmt.Sprintf("maker%d", creator)}
			if creator%2 == 0 && n != 0 { // the first one is known by the handle alone
				rec.CreatorID = fmt.Sprintf("id-%d", creator)
			}
			rec.Metadata = []byte(fmt.Sprintf(`{"caption":"canary%s #tag%d","hashtags":["tag%d"]}`, id, n%3, n%3))
			spoken := fmt.Sprintf("the same beginning of a hook by many %d", n%2)
			rec.Evidence = &stage.Evidence{Spoken: &spoken}
			rec.Metrics.Followers = ptr(int64(1000 + 100*creator))
			records = append(records, rec)
		}
	}
	return records
}

// whole is all that a library shows of itself, by the videos' own ids: rows of scores, the order
// of hooks, creators, runs and trends.
func (b *bundle) whole() string {
	b.t.Helper()
	var text strings.Builder
	for _, query := range []string{
		`SELECT v.external_id, v.peers, v.own_views, v.by_niche, v.twice_baseline, v.sample_count, v.doubtful, v.score, c.key, c.dirty,
v.handle, v.observed_at, v.usable_views, v.archived, v.hook_hidden, CASE WHEN v.outlier_order IS NULL THEN 0 ELSE 1 END
FROM videos v LEFT JOIN creators c ON c.id = v.creator_id WHERE v.account_id = 7 ORDER BY v.external_id`,
		`SELECT key, handle, followers, followers_at FROM creators WHERE account_id = 7 ORDER BY key`,
		`SELECT kind FROM niches WHERE account_id = 7 AND dirty > 0 ORDER BY kind`,
		`SELECT subject, scroll_id, first_at, last_at, usable_at, repeats FROM library_runs WHERE account_id = 7 ORDER BY scroll_id`,
		`SELECT subject, newest_at, span, videos, recent, earlier FROM trend_windows WHERE account_id = 7 ORDER BY subject`,
		`SELECT with_archived, key, label, listed, head, video_count FROM trends WHERE account_id = 7 ORDER BY with_archived, key`,
		`SELECT COALESCE(SUM(videos), 0) FROM libraries WHERE account_id = 7`,
		`SELECT v.external_id, o.scroll_id, o.views FROM observations o JOIN videos v ON v.id = o.video_id AND v.account_id = 7
WHERE o.account_id = 7 ORDER BY v.external_id, o.scroll_id`,
		`SELECT v.external_id FROM videos v WHERE v.account_id = 7 AND v.hook_order IS NOT NULL ORDER BY substr(v.hook_order, 1, 1), v.external_id`,
	} {
		b.rows(query, func(line string) { text.WriteString(line + "\n") })
		text.WriteString("--\n")
	}
	return text.String()
}

// rows calls do with each row of a query as text.
func (b *bundle) rows(query string, do func(line string)) {
	b.t.Helper()
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // it reads
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			line := make([]string, len(columns))
			for i, value := range values {
				if text, ok := value.([]byte); ok {
					value = string(text)
				}
				line[i] = fmt.Sprint(value)
			}
			do(strings.Join(line, "|"))
		}
		return rows.Err()
	})
	if err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
}

// never is a library that never had the videos of the ids.
func never(t *testing.T, db *store.DB, without func(id string) bool) *bundle {
	t.Helper()
	b := setup(t, db)
	for run := range int64(3) {
		records := slices.DeleteFunc(watched(rand.New(rand.NewPCG(1, uint64(run))), run), func(r stage.Record) bool { return without(r.ExternalID) })
		if len(records) > 0 {
			b.scroll(run+1, now+run*day, records...)
		} else {
			b.runs.completed = append(b.runs.completed, run+1)
		}
	}
	return b
}

// another is another empty database of the same kind.
func another(t *testing.T, db *store.DB) *store.DB {
	if db.Dialect() == store.SQLite {
		return storetest.SQLite(t)
	}
	return storetest.Postgres(t)
}

func (b *bundle) remove(o removal.Order) *removal.Deletion {
	b.t.Helper()
	d, err := b.removal.Delete(b.ctx, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.ended(d)
}

func (b *bundle) undo(id int64) *removal.Deletion {
	b.t.Helper()
	d, err := b.removal.Undo(b.ctx, publicid.Format(publicid.Deletion, id))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.ended(d)
}

// ended has the jobs do what a call left to them, as on a busy machine.
func (b *bundle) ended(d *removal.Deletion) *removal.Deletion {
	b.t.Helper()
	if d == nil || d.Status != "running" && d.Status != "undoing" {
		return d
	}
	of, err := videos.Account(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, w := range b.removal.Workers() {
		if err := w.Work(b.ctx, json.RawMessage(fmt.Sprintf(`{"account":%d,"deletion":%d}`, of, d.ID))); err != nil {
			b.t.Fatal(err)
		}
	}
	storetest.Rows(b.t, b.db, func(rows *sql.Rows) error { return rows.Scan(&d.Status, &d.Videos, &d.Readings) },
		"SELECT status, videos, readings FROM deletions WHERE id = $1", d.ID)
	return d
}

func (b *bundle) settled() {
	b.t.Helper()
	b.counted()
	if err := b.ScoreAllUnscored(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	if pending, err := b.ScoresPending(b.ctx); err != nil || pending {
		b.t.Fatalf("after scoring: got pending %t, %v, want false", pending, err)
	}
}

// TestDeletingLeavesALibraryThatNeverHadIt compares everything with a library into which what was
// deleted never came.
func TestDeletingLeavesALibraryThatNeverHadIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order   func(b *bundle) removal.Order
		without func(id string) bool
		videos  int
	}{
		"a video": {
			func(b *bundle) removal.Order { return removal.Order{VideoID: b.idOf("3-2")} },
			func(id string) bool { return id == "3-2" }, 1,
		},
		"the video that says whose a handle is": {
			func(b *bundle) removal.Order { return removal.Order{VideoID: b.idOf("0-1")} },
			func(id string) bool { return id == "0-1" }, 1,
		},
		"a creator by handle": {
			func(*bundle) removal.Order { return removal.Order{Platform: "tiktok", Handle: "@Maker4"} },
			func(id string) bool { return strings.HasPrefix(id, "4-") }, 7,
		},
		"a creator by id": {
			func(*bundle) removal.Order { return removal.Order{Platform: "tiktok", CreatorID: "id-2"} },
			func(id string) bool { return strings.HasPrefix(id, "2-") }, 5,
		},
		"a source": {
			func(*bundle) removal.Order { return removal.Order{SourceID: "feed"} },
			func(string) bool { return true }, 33,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := never(t, db, func(string) bool { return false })
				full := b.whole()
				points := func() (all []string) {
					b.rows(`SELECT v.external_id, p.scroll_id, p.views, p.twice_baseline, p.peers, p.listed, p.flag, p.early
FROM score_points p JOIN videos v ON v.id = p.video_id AND v.account_id = 7 WHERE p.account_id = 7 ORDER BY v.external_id, p.scroll_id`, func(line string) { all = append(all, line) })
					return all
				}
				scored := points()
				if !slices.ContainsFunc(scored, func(line string) bool { return !strings.HasSuffix(line, "|0") }) {
					t.Error("no score has early views, want some of creators with few videos")
				}
				order := c.order(b)
				if n, found, err := b.removal.Count(b.ctx, order); err != nil || !found || n.Videos != c.videos || n.AtLeast {
					t.Errorf("dry run: got %+v, found %t, %v; want all %d videos", n, found, err, c.videos)
				}
				check(t, "after a dry run", b.whole(), full)
				d := b.remove(order)
				if d == nil || d.Status != "deleted" || d.Videos != c.videos {
					t.Fatalf("got %+v, want %d videos deleted", d, c.videos)
				}
				for _, v := range b.all(lists.Page{List: lists.Videos, WithArchived: true}).Videos {
					if c.without(v.ExternalID) {
						t.Errorf("the next read shows %s", v.ExternalID)
					}
				}
				b.settled()
				want := never(t, another(t, db), c.without).whole()
				if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(b.whole(), "\n")); diff != "" {
					t.Errorf("library after the deletion (-never had it +got):\n%s", diff)
				}
				t.Run("tombstones keep it out until an undo brings it back", func(t *testing.T) {
					records := watched(rand.New(rand.NewPCG(1, 2)), 2)
					if added, _ := b.archive(3, now+2*day, records...); added != 0 {
						t.Errorf("archived again: got %d new videos, want 0", added)
					}
					if undone := b.undo(d.ID); undone == nil || undone.Status != "undone" {
						t.Fatalf("undo: got %+v, want it undone", undone)
					}
					b.settled()
					if diff := gocmp.Diff(strings.Split(full, "\n"), strings.Split(b.whole(), "\n")); diff != "" {
						t.Errorf("library after the undo (-before +got):\n%s", diff)
					}
					if diff := gocmp.Diff(scored, points()); diff != "" {
						t.Errorf("scores after the undo (-before +got):\n%s", diff)
					}
					if n := b.count("tombstones") + b.count("deleted_videos"); n != 0 {
						t.Errorf("got %d tombstones and kept videos after the undo, want 0", n)
					}
				})
			})
		})
	}
}

// cutAt is a context that ends with the nth statement that has the words.
func cutAt(b *bundle, nth int, words string) context.Context {
	ctx, cancel := context.WithCancel(b.ctx)
	b.t.Cleanup(cancel)
	var seen atomic.Int64
	b.db.Watch(func(query string) {
		if strings.Contains(strings.NewReplacer("`", "", `"`, "").Replace(query), words) && seen.Add(1) == int64(nth) {
			cancel()
		}
	})
	return ctx
}

// TestDeletionGoesOnAfterItWasCut ends a deletion and its undo in the middle of transactions, again
// and again, as the end of the process does.
func TestDeletionGoesOnAfterItWasCut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const many = 450
		b.scroll(1, now, clips(many, "moka", 1000)...)
		b.scroll(2, now+day, clip("other-1", "other", 10))
		before := b.whole()
		workers := map[string]jobs.Worker{}
		for _, w := range b.removal.Workers() {
			workers[w.Kind] = w
		}
		until := func(kind, words string, d *removal.Deletion, done func() bool) {
			args := json.RawMessage(fmt.Sprintf(`{"account":%d,"deletion":%d}`, account, d.ID))
			for cuts := 0; !done(); cuts++ {
				if cuts > 20 {
					t.Fatalf("%s: got no end after %d cuts", kind, cuts)
				}
				ctx := cutAt(b, 2, words)
				if err := workers[kind].Work(ctx, args); err != nil && ctx.Err() == nil {
					t.Fatalf("%s: got %v, want an error of the cut alone", kind, err)
				}
			}
		}
		d, err := b.removal.Delete(cutAt(b, 2, "INSERT INTO deleted_videos"), removal.Order{Platform: "tiktok", Handle: "moka"})
		if err != nil || d == nil || d.Status != "running" || d.Videos != 100 {
			t.Fatalf("a call that is cut: got %+v, %v, want 100 videos deleted and the rest to come", d, err)
		}
		if added, _ := b.archive(3, now+2*day, clip("moka-449", "moka", 1), clip("moka-new", "moka", 1)); added != 0 {
			t.Errorf("archived meanwhile: got %d videos, want 0", added)
		}
		until("library.delete", "INSERT INTO deleted_videos", d, func() bool { return b.count("deleted_videos") == many })
		until("library.delete", "none", d, func() bool { return b.count("deletions WHERE status = 'deleted'") == 1 })
		if got := b.count("videos"); got != 1 {
			t.Errorf("got %d videos left, want 1", got)
		}
		b.settled()
		if undone, err := b.removal.Undo(cutAt(b, 2, "DELETE FROM deleted_videos"), publicid.Format(publicid.Deletion, d.ID)); err != nil || undone.Status != "undoing" {
			t.Fatalf("an undo that is cut: got %+v, %v, want the rest to come", undone, err)
		}
		until("library.undelete", "DELETE FROM deleted_videos", d, func() bool { return b.count("videos") == many+1 })
		until("library.undelete", "none", d, func() bool { return b.count("deletions WHERE status = 'undone'") == 1 })
		b.settled()
		if diff := gocmp.Diff(strings.Split(before, "\n"), strings.Split(b.whole(), "\n")); diff != "" {
			t.Errorf("library after the undo (-before +got):\n%s", diff)
		}
	})
}

// TestDeletingAnImport deletes the videos that only the import brought, and its readings of others.
func TestDeletingAnImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.runs.imports = map[int64][]int64{5: {2}}
		b.scroll(1, now, clips(3, "moka", 1000)...)
		again := clip("moka-0", "moka", 9000)
		again.Metrics.ObservedAt = ptr(now + day)
		b.scroll(2, now+day, append(clips(4, "brought", 700), again)...)
		order := removal.Order{ImportID: publicid.Format(publicid.Import, 5)}
		if n, found, err := b.removal.Count(b.ctx, order); err != nil || !found || n != (videos.Counted{Videos: 4, Readings: 5}) {
			t.Errorf("dry run: got %+v, found %t, %v; want 4 videos and 5 readings", n, found, err)
		}
		d := b.remove(order)
		if d.Videos != 4 || d.Readings != 5 || b.count("videos") != 3 || b.count("observations") != 3 {
			t.Errorf("got %+v, %d videos and %d readings left, want 4 and 5 deleted, and 3 and 3 left", d, b.count("videos"), b.count("observations"))
		}
		b.settled()
		if got := b.count("videos WHERE external_id = 'moka-0' AND usable_views = 1000"); got != 1 {
			t.Error("the video that stays has the reading of the import, want the one before")
		}
		if missing := b.remove(removal.Order{ImportID: publicid.Format(publicid.Import, 6)}); missing != nil {
			t.Errorf("an unknown import: got %+v, want nothing", missing)
		}
	})
}

// TestDryRunsOfMuchAreBounded counts what a source, an import and a creator have more of than a dry run
// looks at.
func TestDryRunsOfMuchAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.runs.imports = map[int64][]int64{5: {2}}
		b.scroll(1, now, clips(2, "moka", 1000)...)
		b.scroll(2, now+day, clips(2, "brought", 700)...)
		const most = 10_000
		counted := func(name string, order removal.Order, want videos.Counted) {
			t.Helper()
			got, found, err := b.removal.Count(b.ctx, order)
			if err != nil || !found || got != want {
				t.Errorf("%s: got %+v, found %t, %v; want %+v", name, got, found, err, want)
			}
		}
		source := removal.Order{SourceID: "feed"}
		brought := removal.Order{ImportID: publicid.Format(publicid.Import, 5)}
		creator := removal.Order{Platform: "tiktok", Handle: "brought"}
		counted("few of a source", source, videos.Counted{Videos: 4, Readings: 4})
		counted("few of an import", brought, videos.Counted{Videos: 2, Readings: 2})
		counted("few of a creator", creator, videos.Counted{Videos: 2, Readings: 2})
		b.multiply("observations", most/2, "scroll_id = 2", map[string]string{"observed_at": "observed_at + i"})
		counted("many readings of an import", brought, videos.Counted{Videos: 1, Readings: most, AtLeast: true})
		if got, _, err := b.removal.Count(b.ctx, source); err != nil || !got.AtLeast || got.Readings < most {
			t.Errorf("many readings of a source: got %+v, %v; want at least %d", got, err, most)
		}
		b.multiply("videos", most/2, "handle = 'brought'", map[string]string{"external_id": "external_id || CAST(i AS TEXT)"})
		if got, _, err := b.removal.Count(b.ctx, creator); err != nil || !got.AtLeast || got.Videos != most {
			t.Errorf("many videos of a creator: got %+v, %v; want at least %d", got, err, most)
		}
	})
}

// multiply adds so many copies of the rows of a table, with ids of their own and other changes.
func (b *bundle) multiply(table string, copies int, where string, changes map[string]string) {
	b.t.Helper()
	changes["id"] = "id + 1000 * i"
	var names, values []string
	for _, of := range migrate.Tables {
		for _, column := range of.Columns {
			if of.Name == table {
				names, values = append(names, column.Name), append(values, cmp.Or(changes[column.Name], column.Name))
			}
		}
	}
	storetest.Exec(b.t, b.db, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO %s (%s) SELECT %s FROM %[2]s, n WHERE %[5]s`, copies, table, strings.Join(names, ", "), strings.Join(values, ", "), where))
}

// TestScoresWaitForNoCallThatEnded ends a call after its last transaction, before it lets scores
// be made: the job of the deletion does.
func TestScoresWaitForNoCallThatEnded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.runs.imports = map[int64][]int64{5: {2}}
		b.scroll(1, now, clips(3, "moka", 1000)...)
		b.scroll(2, now+day, clips(4, "brought", 700)...)
		d, err := b.removal.Delete(cutAt(b, 1, "UPDATE unscored_libraries SET wait_until"), removal.Order{ImportID: publicid.Format(publicid.Import, 5)})
		if err != nil || d == nil || d.Status != "deleted" || b.count("unscored_libraries WHERE wait_until > 0") != 1 {
			t.Fatalf("a call that is cut: got %+v, %v, want the videos deleted and scores that wait", d, err)
		}
		for _, w := range b.removal.Workers() {
			if err := w.Work(b.ctx, json.RawMessage(fmt.Sprintf(`{"account":%d,"deletion":%d}`, account, d.ID))); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.count("unscored_libraries WHERE wait_until > 0"); got != 0 {
			t.Errorf("got %d libraries whose scores wait, want 0", got)
		}
	})
}

// TestNothingOfADeletedVideoIsLeft looks for the words of deleted videos in every table of the
// database: what is kept for an undo is sealed, and ends.
func TestNothingOfADeletedVideoIsLeft(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := never(t, db, func(string) bool { return false })
		b.remove(removal.Order{Platform: "tiktok", Handle: "maker4"})
		b.settled()
		tables := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'video_words%'`
		if db.Dialect() == store.Postgres {
			tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
		}
		var names []string
		b.rows(tables, func(name string) { names = append(names, name) })
		if len(names) < 40 {
			t.Fatalf("got %d tables, want at least 40", len(names))
		}
		for _, name := range names {
			b.rows("SELECT * FROM "+name, func(line string) {
				if strings.Contains(line, "canary4-") || strings.Contains(line, "maker4") || strings.Contains(line, "id-4") {
					t.Errorf("table %s has a deleted video: %s", name, line)
				}
			})
		}
	})
}

// TestWordsOfDeletedVideosLeaveTheFile looks for a word of deleted videos in a copy of the database
// file without free pages, as VACUUM leaves it; in PostgreSQL there is none in any table.
func TestWordsOfDeletedVideosLeaveTheFile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		spoken := func(id, word string) stage.Record {
			r := clip(id, "moka", 1000)
			r.Metadata = []byte(`{"caption":"` + word + `"}`)
			return r
		}
		// The index has two parts with few deletions, which it does not merge by itself.
		for run := range int64(2) {
			records := []stage.Record{spoken(fmt.Sprintf("gone-%d", run), "zyxcanaryqp")}
			for i := range 40 {
				records = append(records, spoken(fmt.Sprintf("left-%d-%d", run, i), "kqwstaysvv"))
			}
			b.scroll(run+1, now+run*day, records...)
		}
		for run := range 2 {
			b.remove(removal.Order{VideoID: b.idOf(fmt.Sprintf("gone-%d", run))})
		}
		b.settled()
		if db.Dialect() == store.Postgres {
			b.rows(`SELECT terms FROM video_terms`, func(line string) {
				if strings.Contains(line, "zyxcanaryqp") {
					t.Errorf("got the words of a deleted video: %s", line)
				}
			})
			return
		}
		has := func(word string) bool {
			path := filepath.Join(t.TempDir(), "copy.db")
			if err := db.Backup(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(text), word)
		}
		if !has("zyxcanaryqp") {
			t.Fatal("got no word before the index was merged: the test sees nothing")
		}
		for range 2 { // the second time there is nothing to do
			if err := b.CleanWords(b.ctx); err != nil {
				t.Fatal(err)
			}
		}
		if has("zyxcanaryqp") {
			t.Error("got the word of deleted videos in the file, want none")
		}
		if !has("kqwstaysvv") {
			t.Error("got no word of the videos that stay")
		}
		if found := b.all(lists.Page{List: lists.Videos, Filter: lists.Filter{Terms: "kqwstaysvv"}}).Videos; len(found) != 80 {
			t.Errorf("a search after the merge: got %d videos, want 80", len(found))
		}
	})
}

// TestAnErasedCreatorIsGoneFromAllLibraries erases a creator from libraries that know them by other
// names, or keep a video that was deleted, and cuts that in between.
func TestAnErasedCreatorIsGoneFromAllLibraries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		made := func(id, creatorID, handle string) stage.Record {
			r := clip(id, handle, 1000)
			r.CreatorID = creatorID
			return r
		}
		b.scroll(1, now, append(clips(150, "moka", 1000), made("by-id", "77", "moka"), clip("other-1", "other", 10))...)
		renamed, deleter := b.as(8), b.as(9)
		renamed.scroll(2, now, made("renamed", "77", "moka.lab"), made("another's", "78", "brew"))
		deleter.scroll(3, now, clip("deleted", "moka", 10), clip("stays", "brew", 10))
		deleter.remove(removal.Order{VideoID: deleter.idOf("deleted")})
		erase := func(ctx context.Context) (*removal.Receipt, error) {
			return b.removal.Erase(ctx, "tiktok", "@Moka", "", "a request")
		}
		// It is cut in the second library: by then the first one, which knew the id, has nothing.
		cut := cutAt(b, 4, "UPDATE erasures SET")
		if receipt, err := erase(cut); err == nil || cut.Err() == nil {
			t.Fatalf("an erasure that is cut: got %+v, %v, want the error of the cut", receipt, err)
		}
		if got := b.count("videos WHERE account_id = 7"); got != 1 {
			t.Fatalf("when it was cut: got %d videos in the first library, want 1", got)
		}
		receipt, err := erase(cutAt(b, 1, "none"))
		if err != nil {
			t.Fatal(err)
		}
		if receipt.Accounts != 3 || receipt.Videos != 153 || receipt.Readings != 152 {
			t.Errorf("got %+v, want 3 accounts, 153 videos, of which one was kept, and 152 readings", receipt)
		}
		if got := b.count("videos") + 100*b.count("deleted_videos"); got != 3 {
			t.Errorf("got %d videos left, want 3 and none kept", got)
		}
		text, err := json.Marshal(receipt)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("the receipt is verified, and a changed one refused", func(t *testing.T) {
			if _, err := b.removal.CheckReceipt(text); err != nil {
				t.Errorf("got %v, want a receipt that holds", err)
			}
			if _, err := b.removal.CheckReceipt([]byte(strings.Replace(string(text), "a request", "no request", 1))); err == nil {
				t.Error("a changed receipt: got no error, want one")
			}
			if strings.Contains(strings.ToLower(string(text)), "moka") {
				t.Errorf("got a name in the receipt %s, want none", text)
			}
		})
		t.Run("no library collects the creator again", func(t *testing.T) {
			for name, c := range map[string]struct {
				record stage.Record
				added  int
			}{
				"by handle":                        {clip("new-1", "MOKA", 1), 0},
				"by the id of another library":     {made("new-2", "77", "new.name"), 0},
				"the same video without a creator": {stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "renamed"}}, 0},
				"another creator":                  {made("new-3", "78", "brew"), 1},
				"another platform": {func() stage.Record {
					r := clip("new-4", "moka", 1)
					r.Platform = "youtube"
					return r
				}(), 1},
			} {
				t.Run(name, func(t *testing.T) {
					fresh := b.as(10)
					if added, _ := fresh.archive(4, now, c.record); added != c.added {
						t.Errorf("got %d videos, want %d", added, c.added)
					}
				})
			}
		})
		t.Run("an undo of before brings nothing back", func(t *testing.T) {
			all := []string{}
			deleter.rows(`SELECT id FROM deletions WHERE account_id = 9`, func(line string) { all = append(all, line) })
			id, _ := strconv.ParseInt(all[0], 10, 64)
			deleter.undo(id)
			if got := b.count("videos WHERE external_id = 'deleted'"); got != 0 {
				t.Errorf("got %d videos back, want 0", got)
			}
		})
	})
}

// TestEveryTableLosesDeletedVideosOrIsNamed holds the tables with rows of an account against what a
// deletion deletes: a new table belongs to it, or has a reason not to.
func TestEveryTableLosesDeletedVideosOrIsNamed(t *testing.T) {
	t.Parallel()
	deleted := []string{
		"videos", "video_docs", "video_terms", "observations", "score_points", "frames", "uncounted_videos", "creators", // by videos.Delete
		"verdicts", "scroll_records", // by scrolls.History
		"collection_videos",                       // by collections.Members
		"share_items",                             // by shares.Parts
		"trends", "trend_windows", "library_runs", // by the scoring that follows
	}
	stays := map[string]string{
		"deletions": "what was asked for, sealed until it is done", "deleted_videos": "sealed, for a day", "tombstones": "hashes",
		"unscored_libraries": "no video", "libraries": "counters", "niches": "kinds of videos", "scroll_counts": "counters", "source_counts": "counters",
		"unindexed_libraries": "the place of a job", "feeds": "a counter", "changes": "ids alone, for 30 days",
		"scrolls": "its seeds, as the account or its plan named them", "imports": "the name of a file of the account",
		"source_states": "where sources go on: seeds, and no texts of videos", "import_parts": "a file of the account while it is imported", "quota_entries": "what a site's quota was spent on, until it is renewed",
		"workspaces": "words of the account", "collections": "words of the account", "shares": "words of the account", "account_sources": "settings and keys of the account", "rulesets": "words of the account", "rule_items": "words of the account", "recurrences": "words of the account",
		"sandbox_files": "files of the account", "keys": "no video", "codes": "no video", "authorizations": "no video", "subscriptions": "no video",
		"checkouts": "no video", "credit_balances": "no video", "credit_entries": "no video", "charges": "no video", "usage_counters": "no video",
		"usage_events": "no video", "audit_entries": "no video", "webhooks": "no video", "webhook_deliveries": "ids of changes",
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		tables := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.name = 'account_id'`
		if db.Dialect() == store.Postgres {
			tables = `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'account_id'`
		}
		seen := map[string]bool{}
		b.rows(tables, func(name string) {
			seen[name] = true
			if slices.Contains(deleted, name) == (stays[name] != "") {
				t.Errorf("table %s: got deleted %t and reason %q to stay, want one of them", name, slices.Contains(deleted, name), stays[name])
			}
		})
		for _, name := range deleted {
			if !seen[name] {
				t.Errorf("got no table %s, want one", name)
			}
		}
	})
}

// TestAnErasureWaitsForBatchesOnTheirWay has a batch with the creator in a transaction that looked
// for erased names before there was one, in a library that is not there yet.
func TestAnErasureWaitsForBatchesOnTheirWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clip("first", "moka", 10), clip("stays", "brew", 10))
		late := b.as(8)
		erased := make(chan error, 1)
		err := db.Write(late.ctx, func(ctx context.Context, tx *store.Tx) error {
			batch := videos.Batch{ScrollID: 2, Stage: "feed", At: now, Records: []stage.Record{clip("late", "moka", 10)}}
			if added, _, err := late.Archive(ctx, tx, batch); err != nil || len(added) != 1 {
				return fmt.Errorf("got %d videos added, %w; want 1", len(added), err)
			}
			go func() {
				_, err := b.removal.Erase(b.ctx, "tiktok", "moka", "", "a request")
				erased <- err
			}()
			select { // it can not end before the transaction
			case err := <-erased:
				return fmt.Errorf("got the end of the erasure, %w, want it to wait", err)
			case <-time.After(300 * time.Millisecond):
				return nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-erased; err != nil {
			t.Fatal(err)
		}
		if got := b.count("videos"); got != 1 || b.has() != "stays" {
			t.Errorf("got %d videos, %s of the first library; want what is of another creator", got, b.has())
		}
	})
}
