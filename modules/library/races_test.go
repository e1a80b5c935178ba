package library

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// plainly is a statement without its quotation marks.
func plainly(query string) string { return strings.NewReplacer("`", "", `"`, "").Replace(query) }

// before has do run once, before a statement with the words is sent outside of a transaction.
func before(b *bundle, words string, do func()) {
	b.t.Helper()
	var once sync.Once
	ran := false
	b.db.Watch(func(query string) {
		if strings.Contains(plainly(query), words) {
			once.Do(func() { // what do sends passes: it is not the first any more
				ran = true
				b.db.Watch(nil)
				do()
			})
		}
	})
	b.t.Cleanup(func() {
		if !ran {
			b.t.Errorf("got no statement with %q, want one", words)
		}
	})
}

// between has do run once, after a statement with the words was sent and before the next
// transaction begins. PostgreSQL alone has another connection for it then.
func between(b *bundle, words string, do func()) {
	b.t.Helper()
	if b.db.Dialect() == store.SQLite {
		b.t.Skip("SQLite has one writer, which has begun by then")
	}
	var mu sync.Mutex
	armed, ran := false, false
	b.db.Watch(func(query string) {
		mu.Lock()
		now := armed && !ran && strings.HasPrefix(strings.ToLower(query), "begin")
		armed = armed || strings.Contains(plainly(query), words)
		ran = ran || now
		mu.Unlock()
		if now {
			do()
		}
	})
	b.t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if !ran {
			b.t.Errorf("got no transaction after a statement with %q, want one", words)
		}
	})
}

// TestScoresOfAScrollAreOfVideosThatAreThere deletes a video after the scores of a scroll were read,
// and before they are kept.
func TestScoresOfAScrollAreOfVideosThatAreThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.archive(1, now, clips(4, "moka", 1000)...)
		between(b, "SELECT DISTINCT o.video_id", func() { b.remove(removal.Order{VideoID: b.idOf("moka-1")}) })
		b.complete(1)
		if got := b.count("score_points"); got != 3 || b.count("videos") != 3 {
			t.Errorf("got the scores of %d videos, and %d videos; want 3 of both", got, b.count("videos"))
		}
	})
}

// TestARunIsWhatItsReadingsSay deletes all that a scroll read, after that was counted and before the
// count is stored.
func TestARunIsWhatItsReadingsSay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.archive(1, now, clips(3, "moka", 1000)...)
		between(b, "AS usable_at", func() { b.remove(removal.Order{Platform: "tiktok", Handle: "moka"}) })
		b.complete(1)
		b.settled()
		if got := b.count("library_runs"); got != 0 {
			t.Errorf("got %d runs without a reading, want 0", got)
		}
	})
}

// TestNoMarkOfALibraryIsLost has another process score a library, and then delete more, while one is
// about to note that all is scored.
func TestNoMarkOfALibraryIsLost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(4, "moka", 1000)...)
		b.remove(removal.Order{VideoID: b.idOf("moka-1")})
		between(b, "FROM niches", func() {
			if err := b.ScoreUnscored(b.ctx); err != nil {
				t.Error(err)
			}
			b.remove(removal.Order{VideoID: b.idOf("moka-2")})
		})
		if err := b.ScoreUnscored(b.ctx); err != nil {
			t.Fatal(err)
		}
		if pending, err := b.ScoresPending(b.ctx); err != nil || !pending {
			t.Errorf("got pending %t, %v; want what the second deletion left", pending, err)
		}
	})
}

// TestThinningCountsWhatItDeleted deletes a video after its readings were found, and before they are
// thinned out.
func TestThinningCountsWhatItDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for scroll := range int64(4) {
			b.takes(scroll+1, "feed", "thin", now+scroll*day/10, 1000+scroll)
			b.takes(scroll+1, "feed", "stays", now+scroll*day/10, 1000+scroll)
		}
		thinning := videos.Thinning{All: 24 * time.Hour, Unneeded: func(_ context.Context, scrolls []int64) (map[int64]bool, error) {
			free := map[int64]bool{}
			for _, id := range scrolls {
				free[id] = true
			}
			return free, nil
		}}
		between(b, "stands_for", func() { b.remove(removal.Order{VideoID: b.idOf("thin")}) })
		if _, _, err := b.Thin(b.ctx, thinning, time.UnixMilli(now+10*day)); err != nil {
			t.Fatal(err)
		}
		b.counted()
	})
}

// TestAnUndoBringsBackWhatNothingElseKeepsOut undoes the deletion of a video whose creator was deleted
// after it: the video comes back with its creator.
func TestAnUndoBringsBackWhatNothingElseKeepsOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, append(clips(3, "moka", 1000), clips(3, "brew", 500)...)...)
		full := b.whole()
		video := b.remove(removal.Order{VideoID: b.idOf("moka-1")})
		creator := b.remove(removal.Order{Platform: "tiktok", Handle: "moka"})
		b.undo(video.ID)
		if got := b.count("videos"); got != 3 {
			t.Errorf("after the undo of the video's deletion: got %d videos, want the 3 of the other creator", got)
		}
		if found, _, _, err := b.Tombstones.Banned(b.ctx, stage.Ref{}); err != nil || len(found) > 0 {
			t.Errorf("got %v, %v; want no video that a deletion keeps out", found, err)
		}
		if added, _ := b.archive(2, now+day, stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "moka-1"}}); added != 0 {
			t.Errorf("the video without its creator's name: got %d added, want 0", added)
		}
		b.undo(creator.ID)
		b.settled()
		if diff := cmp.Diff(strings.Split(full, "\n"), strings.Split(b.whole(), "\n")); diff != "" {
			t.Errorf("library after both undos (-before +got):\n%s", diff)
		}
	})
}

// TestAnUndoMeetsAnErasure undoes the deletion of a video while its creator is erased: between the
// looks for videos and for what deletions keep.
func TestAnUndoMeetsAnErasure(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clip("deleted", "moka", 1000), clip("stays", "brew", 500))
		d := b.remove(removal.Order{VideoID: b.idOf("deleted")})
		before(b, "FROM deleted_videos", func() { b.undo(d.ID) })
		if _, err := b.removal.Erase(b.ctx, "tiktok", "moka", "", "a request"); err != nil {
			t.Fatal(err)
		}
		if got := b.count("videos") + 10*b.count("deleted_videos"); got != 1 {
			t.Errorf("got %d videos and %d copies, want the one of another creator", b.count("videos"), b.count("deleted_videos"))
		}
	})
}

// TestADeletionThatWasUndoneDeletesNothing has two workers end one deletion, as after a worker that
// was taken for lost, and undoes it while the slower one has found more to delete.
func TestADeletionThatWasUndoneDeletesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(250, "moka", 1000)...)
		d, err := b.removal.Delete(cutAt(b, 2, "INSERT INTO deleted_videos"), removal.Order{Platform: "tiktok", Handle: "moka"})
		if err != nil || d.Status != "running" {
			t.Fatalf("a call that is cut: got %+v, %v, want the rest to come", d, err)
		}
		worker := b.removal.Workers()[0]
		args := json.RawMessage(fmt.Sprintf(`{"account":%d,"deletion":%d}`, account, d.ID))
		before(b, "FROM creators", func() {
			if err := worker.Work(b.ctx, args); err != nil {
				t.Error(err)
			}
			b.undo(d.ID)
		})
		if err := worker.Work(b.ctx, args); err != nil {
			t.Fatal(err)
		}
		if got := b.count("videos"); got != 250 || b.count("deletions WHERE status = 'undone'") != 1 {
			t.Errorf("got %d videos after the undo, want all 250", got)
		}
	})
}

// TestAReceiptCountsAnAccountOnce erases a creator of whom one library shows another a further name.
func TestAReceiptCountsAnAccountOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		made := func(id, creatorID, handle string) stage.Record {
			r := clip(id, handle, 1000)
			r.CreatorID = creatorID
			return r
		}
		b.scroll(1, now, made("first", "", "moka"), made("renamed", "77", "moka.lab"))
		b.as(8).scroll(2, now, made("says", "77", "moka"))
		receipt, err := b.removal.Erase(b.ctx, "tiktok", "moka", "", "a request")
		if err != nil {
			t.Fatal(err)
		}
		if receipt.Accounts != 2 || receipt.Videos != 3 {
			t.Errorf("got %d accounts and %d videos, want 2 and 3", receipt.Accounts, receipt.Videos)
		}
	})
}

// TestAReceiptOfAnErasureThatWasCutCountsAnAccountOnce cuts one after it has counted an account of
// whom another shows a further name, and has two processes go on with it.
func TestAReceiptOfAnErasureThatWasCutCountsAnAccountOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		made := func(id, creatorID, handle string) stage.Record {
			r := clip(id, handle, 1000)
			r.CreatorID = creatorID
			return r
		}
		b.scroll(1, now, made("first", "", "moka"), made("renamed", "77", "moka.lab"))
		b.as(8).scroll(2, now, made("says", "77", "moka"))
		erase := func(ctx context.Context) (*removal.Receipt, error) {
			return b.removal.Erase(ctx, "tiktok", "moka", "", "a request")
		}
		cut := cutAt(b, 3, "UPDATE erasures SET")
		if receipt, err := erase(cut); err == nil || cut.Err() == nil {
			t.Fatalf("an erasure that is cut: got %+v, %v, want the error of the cut", receipt, err)
		}
		if got := b.count("erasures WHERE accounts = 1 AND finished_at = 0"); got != 1 || b.count("videos") != 2 {
			t.Fatalf("when it was cut: got %d videos left, want 2, and one account counted", b.count("videos"))
		}
		before(b, "FROM libraries", func() {
			if receipt, err := erase(b.ctx); err != nil || receipt.Accounts != 2 {
				t.Errorf("another process: got %+v, %v; want 2 accounts", receipt, err)
			}
		})
		receipt, err := erase(b.ctx)
		if err != nil || receipt.Accounts != 2 || receipt.Videos != 3 {
			t.Errorf("got %+v, %v; want 2 accounts and 3 videos", receipt, err)
		}
		if got := b.count("tombstones"); got != 0 {
			t.Errorf("got %d marks after the erasure, want 0", got)
		}
	})
}

// TestAnUndoLiftsAllTombstones has another process lift the same ones at the same time.
func TestAnUndoLiftsAllTombstones(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(1100, "moka", 1000)...)
		d := b.remove(removal.Order{SourceID: "feed"})
		storetest.Exec(t, db, `DELETE FROM deleted_videos`) // it can not be brought back any more
		storetest.Exec(t, db, `UPDATE deletions SET undo_until = 0`)
		if got := b.count("tombstones"); got != 1100 {
			t.Fatalf("got %d tombstones, want 1100", got)
		}
		other := func() {
			err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := b.Tombstones.Lift(ctx, tx, d.ID)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		if db.Dialect() == store.Postgres {
			before(b, "DELETE FROM tombstones", other)
		} else {
			before(b, "FROM deleted_videos", other) // it has one writer at a time
		}
		if undone := b.undo(d.ID); undone.Status != "undone" || b.count("tombstones") != 0 {
			t.Errorf("got %+v and %d tombstones, want it undone and none", undone, b.count("tombstones"))
		}
	})
}

// TestAVideoIsDeletedWhileItIsExplained deletes a video between the reads of its row and of its creator's videos.
func TestAVideoIsDeletedWhileItIsExplained(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(4, "moka", 1000)...)
		id := b.idOf("moka-1")
		before(b, "AND creator_id =", func() { b.remove(removal.Order{VideoID: id}) })
		got, err := b.explainer.ExplainOutlier(b.ctx, id)
		if err != nil || got != nil {
			t.Errorf("got %+v, %v; want no explanation", got, err)
		}
	})
}

// TestUndosSideBySideLeaveNothing undoes the deletion of a video, which hands it to the deletion of its
// creator, while that one is undone.
func TestUndosSideBySideLeaveNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, append(clips(1, "moka", 1000), clips(3, "brew", 500)...)...)
		full := b.whole()
		video := b.remove(removal.Order{VideoID: b.idOf("moka-0")})
		creator := b.remove(removal.Order{Platform: "tiktok", Handle: "moka"})
		ended := make(chan error, 1)
		before(b, "UPDATE deleted_videos SET deletion_id", func() {
			go func() {
				_, err := b.removal.Undo(b.ctx, publicid.Format(publicid.Deletion, creator.ID))
				ended <- err
			}()
			select { // it waits, or has ended and leaves nothing either
			case err := <-ended:
				ended <- err
			case <-time.After(300 * time.Millisecond):
			}
		})
		b.undo(video.ID)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		b.ended(creator)
		b.undo(creator.ID)
		b.settled()
		if diff := cmp.Diff(strings.Split(full, "\n"), strings.Split(b.whole(), "\n")); diff != "" {
			t.Errorf("library after both undos (-before +got):\n%s", diff)
		}
		if got := b.count("tombstones") + b.count("deleted_videos"); got != 0 {
			t.Errorf("got %d tombstones and copies, want 0", got)
		}
	})
}

// TestWhatIsCommittedHasNotFailed has calls fail after their deletion, or its undo, is committed: the
// job ends it.
func TestWhatIsCommittedHasNotFailed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(3, "moka", 1000)...)
		away := func() { storetest.Exec(t, db, `ALTER TABLE tombstones RENAME TO away`) }
		back := func() { storetest.Exec(t, db, `ALTER TABLE away RENAME TO tombstones`) }
		before(b, "is_read", away)
		d, err := b.removal.Delete(b.ctx, removal.Order{SourceID: "feed"})
		if back(); err != nil || d == nil || d.Status != "running" {
			t.Fatalf("a deletion: got %+v, %v; want one that goes on", d, err)
		}
		if d = b.ended(d); d.Status != "deleted" || b.count("videos") != 0 {
			t.Fatalf("after the job: got %+v and %d videos, want none", d, b.count("videos"))
		}
		before(b, "FROM deleted_videos", away)
		undone, err := b.removal.Undo(b.ctx, publicid.Format(publicid.Deletion, d.ID))
		if back(); err != nil || undone == nil || undone.Status != "undoing" {
			t.Fatalf("an undo: got %+v, %v; want one that goes on", undone, err)
		}
		if d = b.ended(undone); d.Status != "undone" || b.count("videos") != 3 {
			t.Errorf("after the job: got %+v and %d videos, want 3", d, b.count("videos"))
		}
	})
}

// TestReadingsOfAnImportStayOut undoes deletions of videos after an import that has readings of them was
// undone or deleted: its readings stay out, and a video that has no other.
func TestReadingsOfAnImportStayOut(t *testing.T) {
	t.Parallel()
	const first, imported = 1, 2
	order := removal.Order{ImportID: publicid.Format(publicid.Import, 5)}
	undone := func(b *bundle) *removal.Deletion {
		err := b.Forget(b.ctx, []int64{imported}, func(context.Context, *store.Tx, int, int) error { return nil })
		if err != nil {
			b.t.Fatal(err)
		}
		return nil
	}
	for name, c := range map[string]struct {
		taken func(b *bundle) *removal.Deletion
		back  int // videos after the undo of that
	}{
		"undone":  {undone, 3},
		"deleted": {func(b *bundle) *removal.Deletion { return b.remove(order) }, 5},
		"deleted and then undone": {func(b *bundle) *removal.Deletion {
			d := b.remove(order)
			undone(b)
			return d
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				made := func(db *store.DB) *bundle {
					b := setup(t, db)
					b.runs.imports = map[int64][]int64{5: {imported}}
					b.scroll(first, now, clips(3, "moka", 1000)...)
					again := clip("moka-0", "moka", 9000)
					again.Metrics.ObservedAt = ptr(now + day)
					b.scroll(imported, now+day, append(clips(2, "brought", 700), again)...)
					return b
				}
				b, plain := made(db), made(another(t, db))
				both := b.remove(removal.Order{VideoID: b.idOf("moka-0")})
				alone := b.remove(removal.Order{VideoID: b.idOf("brought-0")})
				d := c.taken(b)
				b.undo(both.ID)
				b.undo(alone.ID)
				b.settled()
				c.taken(plain)
				plain.settled()
				if diff := cmp.Diff(strings.Split(plain.whole(), "\n"), strings.Split(b.whole(), "\n")); diff != "" {
					t.Errorf("library (-without the other deletions +got):\n%s", diff)
				}
				if got := b.count("observations WHERE scroll_id = 2"); got != 0 {
					t.Errorf("got %d readings of the import, want 0", got)
				}
				var views string
				b.rows(`SELECT doc FROM video_docs WHERE doc LIKE '%moka-0%'`, func(line string) { views = line })
				if !strings.Contains(views, `"views":1000`) {
					t.Errorf("got %s, want the views of the reading that is left", views)
				}
				if d != nil {
					b.undo(d.ID)
				}
				if got := b.count("videos"); got != c.back {
					t.Errorf("after the undo of the import's deletion: got %d videos, want %d", got, c.back)
				}
			})
		})
	}
}

// TestDeletingASourceThatReadNothing looks for its first reading, and not at every video.
func TestDeletingASourceThatReadNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(10, "moka", 1000)...)
		looks := 0
		db.Watch(func(query string) {
			if strings.Contains(query, "is_read") {
				looks++
			}
		})
		d, err := b.removal.Delete(b.ctx, removal.Order{SourceID: "api"})
		if err != nil || d != nil || looks != 0 {
			t.Errorf("got %+v, %v, after %d looks at videos; want nothing, without one", d, err, looks)
		}
	})
}

// TestACreatorWithoutVideosIsNotKept has the videos of a handle move to the creator whose id comes with
// it, and deletes creators of whom an earlier version left a row.
func TestACreatorWithoutVideosIsNotKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clip("first", "moka", 1000))
		named := clip("second", "moka", 1000)
		named.CreatorID = "77"
		b.scroll(2, now+day, named)
		if got := b.count("creators WHERE key = 'handle:moka'"); got != 0 || b.count("creators") != 1 {
			t.Errorf("got %d rows of the handle among %d, want the one of the id alone", got, b.count("creators"))
		}
		left := func(id int, handle string) {
			storetest.Exec(t, db, `INSERT INTO creators (account_id, id, platform, key, handle, dirty) VALUES (7, $1, 'tiktok', $2, $3, 0)`, id, "handle:"+handle, handle)
		}
		left(1, "brew")
		b.remove(removal.Order{Platform: "tiktok", Handle: "brew"})
		left(2, "rival")
		receipt, err := b.removal.Erase(b.ctx, "tiktok", "rival", "", "a request")
		if err != nil || receipt.Accounts != 0 {
			t.Errorf("got %+v, %v; want a receipt of no account", receipt, err)
		}
		if got := b.count("creators"); got != 1 {
			t.Errorf("got %d creators, want the one with videos", got)
		}
	})
}

// TestAnUndoOutlivesItsScroll undoes a deletion whose scroll is gone, as those of an account that is
// being deleted: the videos come back, and the scroll does not.
func TestAnUndoOutlivesItsScroll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(3, "moka", 1000)...)
		b.scroll(2, now+day, clips(2, "brew", 1000)...)
		d := b.remove(removal.Order{SourceID: "feed"})
		b.settled()
		b.runs.gone = []int64{1}
		if undone := b.undo(d.ID); undone.Status != "undone" || b.count("videos") != 5 {
			t.Errorf("got %+v and %d videos, want the deletion undone and 5", undone, b.count("videos"))
		}
		if got := b.count("library_runs WHERE scroll_id = 2"); got != 1 || b.count("library_runs") != 1 {
			t.Errorf("got %d runs of the scroll that is there among %d, want it alone", got, b.count("library_runs"))
		}
		if err := b.Score(b.ctx, 1); err != nil {
			t.Errorf("the scores of a scroll that is gone: got %v, want no error", err)
		}
	})
}

// TestAVideoIsDeletedWhileItIsRead deletes a video between the reads of its row and of its document.
func TestAVideoIsDeletedWhileItIsRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, clips(2, "moka", 1000)...)
		id := b.idOf("moka-1")
		before(b, "FROM video_docs", func() { b.remove(removal.Order{VideoID: id}) })
		body, err := b.explainer.Video(b.ctx, id)
		if err != nil || !strings.HasPrefix(string(body), `{"found":false,"video":null`) {
			t.Errorf("got %s, %v; want no video", body, err)
		}
	})
}
