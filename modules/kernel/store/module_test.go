package store_test

import (
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestModule: the database is there once the app has started.
func TestModule(t *testing.T) {
	t.Parallel()
	var db *store.DB
	app := fxtest.New(t, store.Module, fx.NopLogger, fx.Supply(storetest.SQLiteConfig(t), storetest.Log(t)),
		jobs.Module, fx.Populate(&db), fx.Invoke(func(*jobs.Queue) {}))
	app.RequireStart()
	if n, err := db.Ent().Account.Query().Count(t.Context()); err != nil || n != 0 {
		t.Errorf("got %d rows, %v, want 0 and no error", n, err)
	}
	if n := len(db.Stats()); n != 2 {
		t.Errorf("got %d pools, want 2: one that reads and one that writes", n)
	}
	for _, pool := range db.Stats() {
		if pool.Max == 0 || pool.Open > pool.Max {
			t.Errorf("pool %+v, want Max not 0 and Open at most %v", pool, pool.Max)
		}
	}
	app.RequireStop()
	if _, err := db.Ent().Account.Query().Count(t.Context()); err == nil {
		t.Error("still open, want an error")
	}
}
