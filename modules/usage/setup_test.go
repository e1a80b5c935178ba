package usage

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// plans is the need of the module, answered by small numbers.
type plans struct{}

func (plans) Budget(plan string) (daily, monthly int64) {
	if plan == "pro" {
		return 200, 2000
	}
	return 10, 100
}

type bundle struct {
	db       *store.DB
	service  *Service
	recorder *Recorder
}

func setup(t testing.TB, db *store.DB) *bundle {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pending := NewPending()
	b := &bundle{db: db, service: New(db, Defaults(), pending, plans{}), recorder: NewRecorder(db, Defaults(), pending, log)}
	if b.recorder.folder != nil {
		b.recorder.folder.every = time.Hour // tests store events themselves: see tables
	}
	if err := b.recorder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.recorder.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

// tables has the tables include every event that was recorded.
func (b *bundle) tables(t testing.TB) {
	t.Helper()
	if b.recorder.folder == nil {
		return
	}
	if err := b.recorder.folder.store(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// caller is a viewer with a key; two with the same account are one tenant.
func caller(account, key int64) *viewer.Viewer {
	return &viewer.Viewer{AccountID: account, KeyID: key, Plan: "standard", Interval: "monthly", Status: "active"}
}

func as(v *viewer.Viewer) context.Context { return viewer.NewContext(context.Background(), v) }
