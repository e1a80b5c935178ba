package app_test

import (
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestJourneyThroughPgBouncer makes a journey by a PgBouncer in transaction mode, with
// the smallest pool of all defaults: every view shows what it shows on SQLite.
func TestJourneyThroughPgBouncer(t *testing.T) {
	t.Parallel()
	through := storetest.PgBouncer(t, store.Config{DatabaseURL: apptest.EmptyPostgres(t)}, 3)
	pooled := apptest.Start(t, sampleFeed, func(cfg *app.Config) {
		cfg.DatabaseURL, cfg.DatabaseDirectURL, cfg.DatabasePool = through.DatabaseURL, through.DirectURL, 3
	})
	account, other := travel(t, pooled), travel(t, apptest.Start(t, sampleFeed))
	for _, view := range views {
		got, want := timeless(t, account.Do(t, view, "")), timeless(t, other.Do(t, view, ""))
		if got != want || len(got) < 100 {
			t.Errorf("%s differs:\ngot  %s\nwant %s", view, got, want)
		}
	}
}
