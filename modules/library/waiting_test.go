package library

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// TestScoresAreMadeOnceAfterASweep: while more of a sweep or a deletion is to come, the library
// says that scores are to come, and is not scored for each transaction.
func TestScoresAreMadeOnceAfterASweep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		var ids []string
		for i := range 3 * videos.SweptAtOnce {
			ids = append(ids, fmt.Sprintf("due-%02d", i))
		}
		b.by("api", 0, ids...)
		b.by("feed", 30, "stays", "deleted")
		b.complete(100)
		b.complete(130)
		pending := func(when string, want bool) {
			t.Helper()
			if err := b.ScoreAllUnscored(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := b.ScoresPending(b.ctx); err != nil || got != want {
				t.Errorf("%s: got pending %t, %v; want %t", when, got, err, want)
			}
		}
		if n, _, done, err := b.Sweep(b.ctx, retention[0], time.UnixMilli(now+40*day)); n != videos.SweptAtOnce || done || err != nil {
			t.Fatalf("got %d videos, done %t, %v; want %d of more", n, done, err, videos.SweptAtOnce)
		}
		pending("between two transactions of a sweep", true)
		b.sweep(40)
		pending("after the sweep", false)
		b.remove(removal.Order{VideoID: b.idOf("deleted")})
		pending("after a deletion", false)
		b.by("api", 41, ids...)
		if err := b.Forget(b.ctx, []int64{141}, func(context.Context, *store.Tx, int, int) error { return nil }); err != nil {
			t.Fatal(err)
		}
		pending("after an import was taken back", false)
	})
}
