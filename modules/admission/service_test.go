package admission

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/ent/usagecounter"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// byEnt admits theKey by six queries of Ent.
func (b *bundle) byEnt(ctx context.Context) (*viewer.Viewer, error) {
	hash, _, _ := keys{}.Digest(theKey)
	k, err := b.db.Ent().Key.Query().Where(key.Hash(hash)).Only(viewer.System(ctx))
	if err != nil {
		return nil, err
	}
	ctx = viewer.As(ctx, k.AccountID)
	subscription, err := b.db.Ent().Subscription.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	counters, err := b.db.Ent().UsageCounter.Query().Where(usagecounter.DayIn(day, month)).All(ctx)
	if err != nil || len(counters) != 2 {
		return nil, fmt.Errorf("%d counters, %w", len(counters), err)
	}
	workspace, err := b.db.Ent().Workspace.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	library, err := b.db.Ent().Library.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	return &viewer.Viewer{
		AccountID: k.AccountID, KeyID: k.ID, Scopes: []string{"library:read", "rules:read"},
		Plan: subscription.Plan, Interval: subscription.Interval, Status: subscription.Status,
		AtAdmission: &viewer.AtAdmission{Workspace: true, Subject: *workspace.CanonicalID, LibraryRevision: library.Revision},
	}, nil
}

func TestTheCallerOfAKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db, 0)
		want, err := b.byEnt(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // read, and kept
			got, err := b.Admit(t.Context(), theKey)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Viewer, cmp.AllowUnexported(viewer.Viewer{})); diff != "" || got.BudgetWait != 0 {
				t.Errorf("wait %v, viewer (-want +got):\n%s", got.BudgetWait, diff)
			}
		}
		for _, text := range []string{"another key", badText} {
			if _, err := b.Admit(t.Context(), text); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%q: got error %v, want %v", text, err, apierr.Unauthorized)
			}
		}
	})
}

// shown is what a call sees of theKey.
func (b *bundle) shown(t *testing.T) string {
	t.Helper()
	caller, err := b.Admit(t.Context(), theKey)
	if apierr.Is(err, apierr.Unauthorized) || apierr.Is(err, apierr.Forbidden) {
		return "refused"
	}
	if err != nil {
		t.Fatal(err)
	}
	who := caller.Viewer
	return fmt.Sprintf("%s, %q, %s, %q", who.Scopes, who.Plan, who.Status, who.AtAdmission.Subject)
}

// change changes the account's rows as a module does, whose change goes into the feed.
func (b *bundle) change(t *testing.T, query string, args ...any) {
	t.Helper()
	err := b.db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		tx.Notify(b.account)
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestChangesAreSeenByAllProcesses changes what a call is admitted by, while two processes
// keep it: the one that does it sees it at the next call, the other within a second.
func TestChangesAreSeenByAllProcesses(t *testing.T) {
	t.Parallel()
	const before = `[library:read rules:read], "pro", active, "website:example.com"`
	for _, c := range []struct{ name, change, want string }{
		{"key revoked", "UPDATE keys SET revoked_at = 1", "refused"},
		{"key deleted", "DELETE FROM keys", "refused"},
		{"key expires", "UPDATE keys SET expires_at = 1", "refused"},
		{"account blocked", "UPDATE accounts SET blocked_at = 1", "refused"},
		{"scopes changed", "UPDATE keys SET scopes = 'rules:read'", `[rules:read], "pro", active, "website:example.com"`},
		{"subscription cancelled", "UPDATE subscriptions SET status = 'cancelled'", `[library:read rules:read], "pro", cancelled, "website:example.com"`},
		{"subscription deleted", "DELETE FROM subscriptions", `[library:read rules:read], "", none, "website:example.com"`},
		{"subject changed", "UPDATE workspaces SET canonical_id = 'website:other.example.com'", `[library:read rules:read], "pro", active, "website:other.example.com"`},
		{"workspace deleted", "DELETE FROM workspaces", `[library:read rules:read], "pro", active, ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, here, there *bundle) {
				if got := [2]string{here.shown(t), there.shown(t)}; got != [2]string{before, before} {
					t.Fatalf("before the change: got %q, want %q twice", got, before)
				}
				here.change(t, c.change)
				changed := time.Now()
				if got := here.shown(t); got != c.want {
					t.Errorf("the next call of the process that changed it: got %q, want %q", got, c.want)
				}
				for got := ""; got != c.want; time.Sleep(5 * time.Millisecond) {
					asked := time.Now()
					if got = there.shown(t); got != c.want && asked.Sub(changed) > time.Second {
						t.Fatalf("%v after the change another process: got %q, want %q", asked.Sub(changed), got, c.want)
					}
				}
			})
		})
	}
}

// TestAChangeBesideTheReadIsSeen has a caller read while its account changes: what was read
// may be from before the change, and is not kept.
func TestAChangeBesideTheReadIsSeen(t *testing.T) {
	t.Parallel()
	kept, err := newKept()
	if err != nil {
		t.Fatal(err)
	}
	hash, reads := make([]byte, 32), 0
	look := func(meanwhile func()) {
		found, err := kept.get(hash, func() (caller, error) {
			reads++
			meanwhile()
			return caller{key: Key{Found: true}, viewer: viewer.Viewer{AccountID: 7}}, nil
		})
		if err != nil || found.viewer.AccountID != 7 {
			t.Fatalf("got account %d, error %v; want 7", found.viewer.AccountID, err)
		}
	}
	for i, c := range []struct {
		meanwhile func()
		want      int
	}{
		{func() { kept.forget(7) }, 1},
		{func() { kept.forget(8) }, 2}, // since the first was not kept
		{nil, 2},
		{nil, 2},
	} {
		if look(c.meanwhile); reads != c.want {
			t.Errorf("look %d: %d reads, want %d", i, reads, c.want)
		}
	}
	kept.forget(7)
	if look(func() {}); reads != 3 {
		t.Errorf("after a change: %d reads, want 3", reads)
	}
}

// TestKeptKeysExpire: no read is needed for it.
func TestKeptKeysExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, at := setup(t, db, 0), time.Now()
		b.change(t, "UPDATE keys SET expires_at = $1", at.Add(100*time.Millisecond).UnixMilli())
		runs := 0
		db.Trace(func(_ context.Context, s *store.Hot, _ []any) {
			if s == b.rows.find {
				runs++
			}
		})
		for i := range 20 {
			call := at.Add(time.Duration(i) * 10 * time.Millisecond)
			b.now = func() time.Time { return call }
			_, err := b.Admit(t.Context(), theKey)
			if refused, want := apierr.Is(err, apierr.Unauthorized), i >= 10; refused != want {
				t.Errorf("%v later: got error %v, want refused %t", call.Sub(at), err, want)
			}
		}
		if most := 1 + int(time.Since(at)/keepFor); runs > most {
			t.Errorf("the key was read %d times for 20 calls, want at most %d", runs, most)
		}
	})
}

// TestSpendingAndTheLibraryAreOfNow: both are seen by the next call of every process.
func TestSpendingAndTheLibraryAreOfNow(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, here, there *bundle) {
		for revision := int64(3); revision < 9; revision++ {
			if revision > 3 {
				storetest.Exec(t, here.db, "UPDATE libraries SET revision = $1", revision)
			}
			for _, b := range []*bundle{here, there} {
				caller, err := b.Admit(t.Context(), theKey)
				if err != nil {
					t.Fatal(err)
				}
				if got := caller.Viewer.AtAdmission.LibraryRevision; got != revision {
					t.Errorf("got revision %d, want %d", got, revision)
				}
			}
		}
		there.usage.wait = 5
		for _, c := range []struct {
			name                     string
			daily, monthly, unstored int64
			want                     int // whether usage is asked
		}{
			{"units are left", 99, 999, 0, 0},
			{"the day is spent", 100, 999, 0, 1},
			{"the month is spent", 50, 1000, 0, 1},
			{"calls of the process may have spent the day", 98, 100, 2, 1},
			{"calls of the process have spent less", 97, 100, 2, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.Exec(t, here.db, "UPDATE usage_counters SET units = CASE day WHEN 20260310 THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END", c.daily, c.monthly)
				there.usage.unstored, there.usage.asked = c.unstored, 0
				caller, err := there.Admit(t.Context(), theKey)
				if err != nil {
					t.Fatal(err)
				}
				if want := time.Duration(c.want) * 5 * time.Millisecond; caller.BudgetWait != want || there.usage.asked != c.want {
					t.Errorf("got a wait of %v, usage asked %d times; want %v and %d", caller.BudgetWait, there.usage.asked, want, c.want)
				}
			})
		}
	})
}

// BenchmarkAdmission admits a call by the statements, and by five queries of Ent: x-floor is
// how many times as much processor time Ent takes. The statements stay hot while that is at
// least 1.3.
func BenchmarkAdmission(b *testing.B) {
	s := setup(b, storetest.SQLite(b), 0)
	spent := func(admit func() error) time.Duration {
		var before, after syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
			b.Fatal(err)
		}
		for range 50 {
			if err := admit(); err != nil {
				b.Fatal(err)
			}
		}
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
			b.Fatal(err)
		}
		return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	}
	var kept, read, ent time.Duration
	for b.Loop() {
		kept += spent(func() error { _, err := s.Admit(b.Context(), theKey); return err })
		read += spent(func() error { s.kept.forget(s.account); _, err := s.Admit(b.Context(), theKey); return err })
		ent += spent(func() error { _, err := s.byEnt(b.Context()); return err })
	}
	b.ReportMetric(float64(kept.Microseconds())/float64(b.N)/50, "kept-µs/op")
	b.ReportMetric(float64(read.Microseconds())/float64(b.N)/50, "read-µs/op")
	b.ReportMetric(float64(ent)/float64(read), "x-floor")
	b.ReportMetric(0, "ns/op")
}
