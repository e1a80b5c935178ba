package app

import (
	"context"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/usage"
)

// TestKeptRowsHoldUntilTheFileChanges changes the file as another process does: the next
// call sees it. While it does not change, no statement is run.
func TestKeptRowsHoldUntilTheFileChanges(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db, other := storetest.Open(t, cfg), storetest.Open(t, cfg)
	admissible(t, db)
	runs := 0
	db.Trace(func(context.Context, *store.Hot, []any) { runs++ })
	a, at := newAdmission(db, usage.NewPending(), billing.Defaults()), time.Now()
	look := func(at time.Time) admitted {
		t.Helper()
		row, err := a.lookUp(t.Context(), []byte("the hash of a key"), at)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	for range 5 {
		row := look(at)
		if want := (usage.Spent{Daily: 7, Monthly: 7}); row.at.LibraryRevision != 3 || row.spent != want {
			t.Errorf("got revision %d and %+v spent, want 3 and %+v", row.at.LibraryRevision, row.spent, want)
		}
		if err := row.state.Check(at); err != nil {
			t.Errorf("got the key refused with %v, want it active", err)
		}
	}
	if runs != 1 {
		t.Errorf("the statement ran %d times for 5 calls, want 1", runs)
	}
	for revision := int64(4); revision < 8; revision++ {
		storetest.Exec(t, other, "UPDATE libraries SET revision = $1", revision)
		if got := look(at).at.LibraryRevision; got != revision {
			t.Errorf("the call after the change sees revision %d, want %d", got, revision)
		}
	}
	if row := look(at.AddDate(0, 0, 40)); row.spent != (usage.Spent{}) {
		t.Errorf("on another day of another month %+v is spent, want nothing", row.spent)
	}
	storetest.Exec(t, db, "UPDATE keys SET revoked_at = 1")
	if err := look(at).state.Check(at); !apierr.Is(err, apierr.Unauthorized) {
		t.Errorf("the call after the key was revoked: got error %v, want %v", err, apierr.Unauthorized)
	}
}

// TestKeptRowsSpendWhatIsRecorded has events recorded and stored beside kept rows.
func TestKeptRowsSpendWhatIsRecorded(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	admissible(t, db)
	pending := usage.NewPending()
	a := newAdmission(db, pending, billing.Defaults())
	hash, at := []byte("the hash of a key"), time.Now()
	recorder := usage.NewRecorder(db, usage.Defaults(), pending, storetest.Log(t))
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	for want := int64(7); want < 60; want++ {
		row, err := a.lookUp(t.Context(), hash, at)
		if spent := (usage.Spent{Daily: want, Monthly: want}); err != nil || row.spent != spent {
			t.Fatalf("spent %+v, error %v, want %+v", row.spent, err, spent)
		}
		caller := row.caller(at, a.plans)
		if err := recorder.Record(context.Background(), apiEvent(caller.Viewer, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row, err := a.lookUp(t.Context(), hash, at); err != nil || row.spent.Daily != 60 {
		t.Errorf("in the end: spent %+v, error %v, want 60", row.spent, err)
	}
}

// BenchmarkAdmissionKept is what admission costs while the file does not change.
func BenchmarkAdmissionKept(b *testing.B) {
	db := storetest.SQLite(b)
	admissible(b, db)
	a, at := newAdmission(db, usage.NewPending(), billing.Defaults()), time.Now()
	hash := []byte("the hash of a key")
	b.Run("statement", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.inTables(b.Context(), hash, at, -1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.lookUp(b.Context(), hash, at); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func apiEvent(who *viewer.Viewer, at time.Time) api.Event {
	return api.Event{Op: "getHooks", Status: "ok", Viewer: who, Units: 1, At: at}
}
