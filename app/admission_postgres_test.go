package app

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/usage"
)

// onPostgres is admission in two processes on one database, with one key in it.
type onPostgres struct {
	here, there           *store.DB
	atHome, abroad        *admission
	runsAtHome, runsThere atomic.Int64 // of the statement
}

func admitOnPostgres(t *testing.T, plans billing.Config) *onPostgres {
	t.Helper()
	cfg := storetest.PostgresConfig(t)
	b := &onPostgres{here: storetest.Open(t, cfg), there: storetest.Open(t, cfg)}
	admissible(t, b.here)
	b.atHome, b.abroad = newAdmission(b.here, usage.NewPending(), plans), newAdmission(b.there, usage.NewPending(), plans)
	for _, side := range []struct {
		db   *store.DB
		of   *admission
		runs *atomic.Int64
	}{{b.here, b.atHome, &b.runsAtHome}, {b.there, b.abroad, &b.runsThere}} {
		side.db.Trace(func(_ context.Context, s *store.Hot, _ []any) {
			if s == side.of.find {
				side.runs.Add(1)
			}
		})
	}
	return b
}

// look returns the row by which a call is admitted now, and why it is not.
func look(t *testing.T, a *admission) (admitted, error) {
	t.Helper()
	now := time.Now()
	row, err := a.lookUp(t.Context(), []byte("the hash of a key"), now)
	if err != nil {
		t.Fatal(err)
	}
	return row, row.state.Check(now)
}

// shown is what calls see of a row.
func shown(t *testing.T, a *admission) string {
	t.Helper()
	row, err := look(t, a)
	return fmt.Sprintf("refused %t, %s, %s, %s", err != nil, row.scopes, row.status, row.at.Subject)
}

// TestChangesAreSeenByProcessesOnPostgres changes what a call is admitted by, while two
// processes keep it: the one that does it sees it at once, the other within a second, also
// where it does not hear of it.
func TestChangesAreSeenByProcessesOnPostgres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, change, want string }{
		{"key revoked", "UPDATE keys SET revoked_at = 1", "refused true, library:read rules:read, active, website:example.com"},
		{"key deleted", "DELETE FROM keys", "refused true, , , "},
		{"key expires", "UPDATE keys SET expires_at = 1", "refused true, library:read rules:read, active, website:example.com"},
		{"scopes changed", "UPDATE keys SET scopes = 'rules:read'", "refused false, rules:read, active, website:example.com"},
		{"subscription cancelled", "UPDATE subscriptions SET status = 'cancelled'", "refused false, library:read rules:read, cancelled, website:example.com"},
		{"subscription deleted", "DELETE FROM subscriptions", "refused false, library:read rules:read, , website:example.com"},
		{"subject changed", "UPDATE workspaces SET canonical_id = 'website:other.example.com'", "refused false, library:read rules:read, active, website:other.example.com"},
		{"workspace deleted", "DELETE FROM workspaces", "refused false, library:read rules:read, active, "},
	} {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deaf %t", c.name, deaf), func(t *testing.T) {
				t.Parallel()
				b := admitOnPostgres(t, billing.Defaults())
				const before = "refused false, library:read rules:read, active, website:example.com"
				if got := [2]string{shown(t, b.atHome), shown(t, b.abroad)}; got != [2]string{before, before} {
					t.Fatalf("before the change: got %q, want %q twice", got, before)
				}
				if deaf {
					cut := storetest.Count(t, b.here, `SELECT count(pg_terminate_backend(l.pid, 5000)) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = $1
						AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, 0x5c0118)
					if cut != 2 {
						t.Fatalf("%d connections that listen were cut, want 2", cut)
					}
				}
				storetest.Exec(t, b.here, c.change)
				changed := time.Now()
				if got := shown(t, b.atHome); got != c.want {
					t.Errorf("the next call of the process that changed it: got %q, want %q", got, c.want)
				}
				for got := ""; got != c.want; {
					asked := time.Now()
					if got = shown(t, b.abroad); got != c.want && asked.Sub(changed) > keepFor {
						t.Fatalf("%v after the change another process: got %q, want %q", asked.Sub(changed), got, c.want)
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
	}
}

// TestKeptRowsAreUsedOnPostgres counts the statements of calls, and has a key expire.
func TestKeptRowsAreUsedOnPostgres(t *testing.T) {
	t.Parallel()
	b := admitOnPostgres(t, billing.Defaults())
	hash, at := []byte("the hash of a key"), time.Now()
	storetest.Exec(t, b.here, "UPDATE keys SET expires_at = $1", at.Add(100*time.Millisecond).UnixMilli())
	for i := range 100 {
		call := at.Add(time.Duration(i) * 2 * time.Millisecond)
		row, err := b.atHome.lookUp(t.Context(), hash, call)
		if err != nil {
			t.Fatal(err)
		}
		if refused, want := row.state.Check(call) != nil, i >= 50; refused != want {
			t.Errorf("%v later: refused %t, want %t", call.Sub(at), refused, want)
		}
		revision, err := revisionNow(t, row)
		if err != nil || revision != 3 {
			t.Errorf("got revision %d, error %v, want 3", revision, err)
		}
	}
	// Once, and again where the notification of one of the two changes before came late.
	if got := b.runsAtHome.Load(); got < 1 || got > 3 {
		t.Errorf("the statement ran %d times for 100 calls in 0.2 seconds, want once to three times", got)
	}
	kept := 0
	for want := int64(4); want < 24; want++ {
		storetest.Exec(t, b.here, "UPDATE libraries SET revision = $1", want)
		row, _ := look(t, b.abroad)
		if row.at.Revision != nil {
			kept++
		}
		if got, err := revisionNow(t, row); got != want || err != nil {
			t.Errorf("the call after a change of the library sees revision %d, error %v, want %d", got, err, want)
		}
	}
	if kept == 0 {
		t.Error("no call had a kept row, want most to have")
	}
}

// TestKeptRowsAreBounded asks with keys that are none, and with many that are.
func TestKeptRowsAreBounded(t *testing.T) {
	t.Parallel()
	b := admitOnPostgres(t, billing.Defaults())
	rows, now := b.atHome.rows, time.Now()
	for i := range 50 {
		if row, err := b.atHome.lookUp(t.Context(), fmt.Appendf(nil, "no key %d", i), now); err != nil || row.state.Found {
			t.Fatalf("got %+v, error %v, want no row", row, err)
		}
	}
	if got := len(rows.rows); got != 0 {
		t.Errorf("%d rows are kept of keys that are none, want 0", got)
	}
	for i := range 3 * maxAdmitted {
		hash := fmt.Appendf(nil, "key %d", i)
		_, _, version, err := rows.get(t.Context(), hash, now)
		if err != nil {
			t.Fatal(err)
		}
		rows.keep(hash, admitted{account: int64(i)}, version, usage.Day(now))
		rows.raise(int64(i), usage.Day(now), 1)
	}
	if got := max(len(rows.rows), len(rows.hashes), len(rows.counters)); got > maxAdmitted {
		t.Errorf("%d entries are kept, want at most %d", got, maxAdmitted)
	}
}

// TestRowsReadBeforeAChangeAreNotKept has a change come while a row is being read.
func TestRowsReadBeforeAChangeAreNotKept(t *testing.T) {
	t.Parallel()
	b := admitOnPostgres(t, billing.Defaults())
	rows, hash, now := b.atHome.rows, []byte("a hash"), time.Now()
	for _, c := range []struct {
		name string
		come func()
		kept bool
	}{
		{"nothing", func() {}, true},
		{"a change of the account", func() { rows.forget(5) }, false},
		{"a change of another account, of which nothing is kept", func() { rows.forget(6) }, false},
		{"the end of the second, for another call", func() { _, _, _, _ = rows.get(t.Context(), hash, now.Add(keepFor)) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows.forget(5)
			_, _, version, err := rows.get(t.Context(), hash, now)
			if err != nil {
				t.Fatal(err)
			}
			c.come()
			rows.keep(hash, admitted{account: 5}, version, usage.Day(now))
			if _, kept := rows.rows[string(hash)]; kept != c.kept {
				t.Errorf("the row that was read before is kept %t, want %t", kept, c.kept)
			}
		})
	}
}

// TestBudgetsAreExactOnPostgres spends an account's budget by two processes that keep its
// row: what one has spent, it sees at the next call, and near the budget's end each sees
// what the other has.
func TestBudgetsAreExactOnPostgres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		budget  int64
		between bool // each sees the other's
	}{{"far from the end", 1_000_000, false}, {"near the end", 7 + nearBudget, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plans := billing.Defaults()
			plans.Pro.DailyUnits, plans.Pro.MonthlyUnits = c.budget, c.budget
			b := admitOnPostgres(t, plans)
			sides := []*admission{b.atHome, b.abroad}
			var recorders []*usage.Recorder
			for i, db := range []*store.DB{b.here, b.there} {
				r := usage.NewRecorder(db, usage.Defaults(), sides[i].pending, storetest.Log(t))
				if err := r.Start(); err != nil {
					t.Fatal(err)
				}
				recorders = append(recorders, r)
			}
			total, from := int64(7), time.Now()
			for i := range 40 {
				side := i % 2
				if !c.between {
					side = 0
				}
				row, _ := look(t, sides[side])
				if want := (usage.Spent{Daily: total, Monthly: total}); row.spent != want {
					t.Fatalf("call %d: got %+v spent, want %+v", i, row.spent, want)
				}
				if err := recorders[side].Record(context.Background(), apiEvent(row.caller(time.Now(), plans).Viewer, time.Now())); err != nil {
					t.Fatal(err)
				}
				total++
			}
			if runs, most := b.runsAtHome.Load(), 2+int64(time.Since(from)/keepFor); !c.between && runs > most {
				t.Errorf("the statement ran %d times for 40 calls, want at most %d", runs, most)
			}
			for i, r := range recorders {
				if err := r.Stop(t.Context()); err != nil {
					t.Errorf("recorder %d: %v", i, err)
				}
			}
		})
	}
}

// told is how long a notification may take on a busy machine.
const told = 10 * time.Second

// TestLargeChargesAreSeenByOtherProcesses: a scroll charges at once what would be more than the
// account has left.
func TestLargeChargesAreSeenByOtherProcesses(t *testing.T) {
	t.Parallel()
	plans := billing.Defaults()
	plans.Pro.DailyUnits, plans.Pro.MonthlyUnits = 2*nearBudget, 2*nearBudget
	b := admitOnPostgres(t, plans)
	service := usage.New(b.there, usage.Defaults(), b.abroad.pending, plans)
	at := time.Now()
	spent := func() int64 { // at one time, so that no row is read again for its age
		t.Helper()
		row, err := b.atHome.lookUp(t.Context(), []byte("the hash of a key"), at)
		if err != nil {
			t.Fatal(err)
		}
		return row.spent.Daily
	}
	row, _ := look(t, b.abroad)
	for want := int64(7); want < nearBudget; {
		if got := spent(); got != want {
			t.Fatalf("got %d spent, want %d", got, want)
		}
		const units = 300
		err := b.there.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return service.Charge(ctx, tx, row.account, units)
		})
		if err != nil {
			t.Fatal(err)
		}
		want += units
		charged := time.Now()
		for got := spent(); got != want; got = spent() {
			if time.Since(charged) > told {
				t.Fatalf("%v after another process charged %d units: got %d spent, want %d", time.Since(charged), units, got, want)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// TestChargesAreSeenOnPostgres spends units in a transaction of its own.
func TestChargesAreSeenOnPostgres(t *testing.T) {
	t.Parallel()
	b := admitOnPostgres(t, billing.Defaults())
	row, _ := look(t, b.atHome)
	service := usage.New(b.here, usage.Defaults(), b.atHome.pending, billing.Defaults())
	for want := int64(10); want < 40; want += 3 {
		err := b.here.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return service.Charge(ctx, tx, row.account, 3)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := look(t, b.atHome); got.spent != (usage.Spent{Daily: want, Monthly: want}) {
			t.Errorf("after a charge: got %+v spent, want %d", got.spent, want)
		}
	}
}

// TestTablesOfAdmissionTellTheirChanges reads the catalogue: a table that admission's
// statement reads has a trigger for each kind of change, or its rows are not kept.
func TestTablesOfAdmissionTellTheirChanges(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	notKept := []string{"usage_counters", "libraries"} // raised, and read at each call
	for _, found := range regexp.MustCompile(`(?:FROM|JOIN) (\w+)`).FindAllStringSubmatch(admissionTables, -1) {
		table := found[1]
		if slices.Contains(notKept, table) {
			continue
		}
		var events []string
		storetest.Rows(t, db, func(rows *sql.Rows) error {
			events = append(events, "")
			return rows.Scan(&events[len(events)-1])
		}, `SELECT DISTINCT event_manipulation FROM information_schema.triggers
			WHERE event_object_table = $1 AND action_statement LIKE '%access_changed%' AND action_timing = 'AFTER'
			AND action_condition IS NULL ORDER BY 1`, table)
		if want := []string{"DELETE", "INSERT", "UPDATE"}; !cmp.Equal(events, want) {
			t.Errorf("table %s: got triggers at %q, want %q", table, events, want)
		}
	}
}

// revisionNow is the library's revision that a call with the row sees.
func revisionNow(t *testing.T, row admitted) (int64, error) {
	t.Helper()
	if row.at.Revision == nil {
		return row.at.LibraryRevision, nil
	}
	return row.at.Revision(t.Context(), viewer.NoAnswer)
}
