package usage

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func TestEventsThatAnyNumberComesOfAreSums(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		record := func(n int, e api.Event) {
			t.Helper()
			for range n {
				e.At = time.Now()
				if err := b.recorder.Record(context.Background(), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows := func(where string, args ...any) [2]int64 {
			return [2]int64{
				storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE "+where, args...),
				storetest.Count(t, db, "SELECT coalesce(sum(coalesce(count, 1)), 0) FROM usage_events WHERE "+where, args...),
			}
		}
		record(1000, api.Event{Op: "getUsage", Status: "error"})
		record(10, api.Event{Op: "getHealth", Status: "ok"})
		mine := caller(1, 11)
		record(500, api.Event{Op: "getHooks", Status: "rate_limited", Viewer: mine, OverRate: true})
		record(3, api.Event{Op: "getHooks", Status: "rate_limited", Viewer: mine}) // for its budget
		b.tables(t)

		if diff := cmp.Diff([2]int64{4, 4}, rows("account_id = $1", 1)); diff != "" {
			t.Error("rows and calls at once (-want +got):\n" + diff)
		}
		b.sums(t)
		for where, want := range map[string][2]int64{
			"account_id IS NULL AND op = 'getUsage'":                       {1, 1000},
			"account_id IS NULL AND op = 'getHealth'":                      {1, 10},
			"account_id = 1 AND key_id = 11 AND status = 'rate_limited'":   {5, 503},
			"account_id = 1 AND count IS NOT NULL AND op = 'getHooks'":     {1, 499},
			"account_id IS NULL AND key_id IS NULL AND cost_cents = 0":     {2, 1010},
			"account_id IS NOT NULL AND (key_id IS NULL OR account_id<>1)": {0, 0},
		} {
			t.Run(where, func(t *testing.T) {
				if diff := cmp.Diff(want, rows(where)); diff != "" {
					t.Errorf("rows and calls where %s (-want +got):\n%s", where, diff)
				}
			})
		}
		record(1, api.Event{Op: "getHooks", Status: "rate_limited", Viewer: mine, OverRate: true})
		b.tables(t)
		if diff := cmp.Diff([2]int64{6, 504}, rows("account_id = $1", 1)); diff != "" {
			t.Error("the first of the next minute (-want +got):\n" + diff)
		}
	})
}

func TestStopWritesTheSums(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		if err := b.recorder.Record(t.Context(), api.Event{Op: "getHealth", Status: "ok", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := b.recorder.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE count = 1"); got != 1 {
			t.Errorf("got %d rows, want 1", got)
		}
	})
}

// TestSumsOfAnAccountAreBounded, however many session keys it makes: other accounts' refusals
// stay theirs.
func TestSumsOfAnAccountAreBounded(t *testing.T) {
	t.Parallel()
	s, alone := sums{counts: map[sumKey]int64{}}, 0
	for key := range int64(5 * accountSums) {
		for range 2 {
			if single, _ := s.add(event{accountID: 7, keyID: key + 1, op: "getHooks", status: "rate_limited"}); single {
				alone++
			}
		}
	}
	if alone != accountSums {
		t.Errorf("got %d rows of their own, want %d", alone, accountSums)
	}
	taken := s.take()
	if got, want := taken[sumKey{accountID: 7, op: "getHooks", status: "rate_limited"}], int64(8*accountSums); got != want || len(taken) != accountSums+1 {
		t.Errorf("got %d without a key among %d sums, want %d among %d", got, len(taken), want, accountSums+1)
	}
}

func TestSumsAreBounded(t *testing.T) {
	t.Parallel()
	s := sums{counts: map[sumKey]int64{}}
	for i := range 2 * maxSums {
		s.add(event{accountID: int64(i + 1), keyID: 1, op: "getHooks", status: "rate_limited"})
	}
	taken := s.take()
	if got := taken[sumKey{op: "getHooks", status: "rate_limited"}]; got != maxSums || len(taken) != maxSums+1 {
		t.Errorf("got %d without a tenant among %d sums, want %d among %d", got, len(taken), maxSums, maxSums+1)
	}
}
