package library

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// plainly is a statement without its quotation marks.
func plainly(query string) string { return strings.NewReplacer("`", "", `"`, "").Replace(query) }

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
