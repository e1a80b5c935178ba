package changes_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const account = int64(101)

func open(t *testing.T, db *store.DB) (*changes.Service, context.Context) {
	t.Helper()
	s := changes.New(db, nil)
	t.Cleanup(s.Close)
	return s, viewer.As(t.Context(), account)
}

// add appends changes of videos in one transaction.
func add(t *testing.T, ctx context.Context, db *store.DB, kind feed.Kind, videos ...int64) {
	t.Helper()
	if err := write(ctx, db, kind, videos...); err != nil {
		t.Fatal(err)
	}
}

func write(ctx context.Context, db *store.DB, kind feed.Kind, videos ...int64) error {
	return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, id := range videos {
			if err := feed.Append(ctx, tx, feed.Change{Kind: kind, Video: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

func seqs(page changes.Page) (all []int64) {
	for _, c := range page.Changes {
		all = append(all, c.Seq)
	}
	return all
}

func TestRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := open(t, db)
		read := func(after int64, types changes.Types, most int) changes.Page {
			t.Helper()
			page, err := s.Read(ctx, after, types, most)
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		if diff := cmp.Diff(changes.Page{}, read(0, nil, 10)); diff != "" {
			t.Errorf("a feed without changes, want - got +:\n%s", diff)
		}
		add(t, ctx, db, feed.VideoAdded, 1, 2, 3)
		add(t, ctx, db, feed.VideoGone, 2)
		add(t, viewer.As(ctx, account+1), db, feed.VideoAdded, 9)
		failed := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAdded, Video: 4}), errors.New("undone"))
		})
		if failed == nil {
			t.Fatalf("the failed write committed: got %v, want failed not nil", failed)
		}
		add(t, ctx, db, feed.VideoAdded, 5)

		for _, c := range []struct {
			name  string
			after int64
			types changes.Types
			most  int
			want  []int64
			next  int64
			more  bool
		}{
			{"all changes in order, without those of a rolled back write", 0, nil, 10, []int64{1, 2, 3, 4, 5}, 5, false},
			{"a page ends at its length", 0, nil, 2, []int64{1, 2}, 2, true},
			{"the next page goes on", 2, nil, 3, []int64{3, 4, 5}, 5, false},
			{"one kind", 0, changes.Types{feed.VideoGone}, 10, []int64{4}, 5, false},
			{"a page of one kind ends at its last change", 0, changes.Types{feed.VideoGone}, 1, []int64{4}, 4, true},
			{"nothing of a kind moves the cursor", 0, changes.Types{feed.RulesChanged}, 10, nil, 5, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				page := read(c.after, c.types, c.most)
				if diff := cmp.Diff(c.want, seqs(page)); diff != "" || page.Next != c.next || page.More != c.more {
					t.Errorf("got next %d, more %v, want %d, %v; numbers, want - got +:\n%s", page.Next, page.More, c.next, c.more, diff)
				}
			})
		}
		t.Run("a cursor beyond the newest change has expired", func(t *testing.T) {
			if _, err := s.Read(ctx, 6, nil, 10); !apierr.Is(err, apierr.CursorExpired) {
				t.Errorf("got %v, want cursor_expired", err)
			}
		})
	})
}

func TestOldChangesAreDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := open(t, db)
		many := make([]int64, 1500) // more than one transaction deletes
		for i := range many {
			many[i] = int64(i + 1)
		}
		add(t, ctx, db, feed.VideoAdded, many...)
		old := time.Now().Add(-feed.Keep - time.Hour).UnixMilli()
		err := db.Write(viewer.System(ctx), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Exec(ctx, "UPDATE changes SET at = $1 WHERE seq <= 1400", old); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE feeds SET trim_at = $1", old)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := s.Read(ctx, 1400, nil, 500)
		if err != nil || len(page.Changes) != 100 || page.Changes[0].Seq != 1401 {
			t.Errorf("after the last deleted change: got %d changes, %v, want 100 from 1401 on", len(page.Changes), err)
		}
		if _, err := s.Read(ctx, 1399, nil, 500); !apierr.Is(err, apierr.CursorExpired) {
			t.Errorf("before it: got %v, want cursor_expired", err)
		}
		from, err := s.Start(ctx, changes.From{Oldest: true})
		if err != nil || from != 1400 {
			t.Errorf("the oldest is after %d, %v, want 1400", from, err)
		}
		var left int
		rows, err := db.HotTenantless("SELECT COUNT(*) FROM changes", "a test counts").Query(ctx)
		err = store.Scan(rows, err)(func(rows *sql.Rows) error { return rows.Scan(&left) })
		if err != nil || left != 100 {
			t.Errorf("%d changes are left, %v, want 100", left, err)
		}
	})
}

func TestAwaitReturnsTheFirstChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := open(t, db)
		waiting := make(chan changes.Page)
		go func() {
			page, err := s.Await(ctx, 0, nil, 10)
			if err != nil {
				t.Error(err)
			}
			waiting <- page
		}()
		add(t, ctx, db, feed.VideoAdded, 7)
		select {
		case page := <-waiting:
			if diff := cmp.Diff([]int64{1}, seqs(page)); diff != "" {
				t.Errorf("numbers, want - got +:\n%s", diff)
			}
		case <-time.After(4 * time.Second): // less than lookEvery: it was woken
			t.Error("got no page within 4 s, want the reader to be woken")
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if page, err := s.Await(short, 1, nil, 10); err != nil || page.Next != 1 || len(page.Changes) != 0 {
			t.Errorf("at its end: got %+v, %v, want an empty page", page, err)
		}
	})
}

// writers race on one feed in the tests.
const writers = 8

// race has writers append changes until rounds are done, some of them rolled back. Each
// change has its writer as the scroll, and the writer's own count as the video.
func race(ctx context.Context, db *store.DB, rounds int, acknowledged func(writer, count int64)) error {
	var all sync.WaitGroup
	faults := make([]error, writers)
	for w := range int64(writers) {
		all.Go(func() {
			count := int64(0)
			for round := range rounds {
				n := int64(1 + (round+int(w))%4)
				err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					for i := range n {
						if err := feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAdded, Scroll: w + 1, Video: count + i + 1}); err != nil {
							return err
						}
					}
					if round%5 == 4 {
						return errUndone
					}
					return nil
				})
				switch {
				case errors.Is(err, errUndone):
				case err != nil:
					faults[w] = err
					return
				default:
					count += n
					acknowledged(w+1, count)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

var errUndone = errors.New("undone")

// TestRacingWritersSkipNothing reads the feed while 8 writers race on it.
func TestRacingWritersSkipNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := open(t, db)
		var total atomic.Int64
		counts := make([]int64, writers+1)
		done := make(chan error, 1)
		go func() {
			err := race(ctx, db, 40, func(writer, count int64) { counts[writer] = count })
			for _, n := range counts {
				total.Add(n)
			}
			done <- err
		}()
		r := reader{last: map[int64]int64{}}
		ended := false
		for {
			page, err := s.Read(ctx, r.seq, nil, 7)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.take(page.Changes); err != nil {
				t.Fatal(err)
			}
			if ended && !page.More && len(page.Changes) == 0 {
				break
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				ended = true
			default:
			}
		}
		if r.seq != total.Load() {
			t.Errorf("read %d changes, want %d", r.seq, total.Load())
		}
	})
}

// reader checks that changes come once and in order.
type reader struct {
	seq  int64
	last map[int64]int64 // writer → its last count
}

func (r *reader) take(found []changes.Change) error {
	for _, c := range found {
		if c.Seq != r.seq+1 {
			return fmt.Errorf("after number %d comes %d", r.seq, c.Seq)
		}
		if c.Video != r.last[c.Scroll]+1 {
			return fmt.Errorf("number %d: after count %d of writer %d comes %d", c.Seq, r.last[c.Scroll], c.Scroll, c.Video)
		}
		r.seq, r.last[c.Scroll] = c.Seq, c.Video
	}
	return nil
}
