package quota

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

type bundle struct {
	*Service
	clock time.Time
}

// each runs a test on both databases, with a clock that stands in the morning of
// a day in Los Angeles.
func each(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, err := New(db)
		if err != nil {
			t.Fatal(err)
		}
		b := &bundle{Service: s, clock: time.Date(2026, 9, 1, 16, 0, 0, 0, time.UTC)}
		s.now = func() time.Time { return b.clock }
		test(t, b)
	})
}

func (b *bundle) ask(t *testing.T, tenant int64, a Allowance, units int64, item string) Answer {
	t.Helper()
	answer, err := b.Spend(viewer.As(t.Context(), tenant), a, units, item)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// drain asks for single units until one is refused.
func (b *bundle) drain(t *testing.T, tenant int64, a Allowance) (got int64, last Answer) {
	t.Helper()
	for ; ; got++ {
		if last = b.ask(t, tenant, a, 1, ""); !last.Granted {
			return got, last
		}
	}
}

func (b *bundle) wantUsed(t *testing.T, a Allowance, used int64, tenants int, renews time.Time) {
	t.Helper()
	status, err := b.Status(t.Context(), a)
	if err != nil || status.Used != used || status.Tenants != tenants || !status.RenewsAt.Equal(renews) {
		t.Errorf("status %+v, err %v; want %d used by %d, renewed at %v", status, err, used, tenants, renews)
	}
}

func daily(limit int64) Allowance {
	return Allowance{Plugin: "tube", Name: "units", Limit: limit, Window: PacificDay}
}

func weekly(limit int64) Allowance {
	return Allowance{Plugin: "gram", Name: "hashtags", Limit: limit, Window: Week}
}

// midnight after the bundle's first clock, in Los Angeles.
var midnight = time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC)

func TestOneAloneGetsAll(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.wantUsed(t, daily(10), 0, 0, time.Time{})
		got, last := b.drain(t, 1, daily(10))
		if got != 10 || !last.RetryAt.Equal(midnight) {
			t.Errorf("got %d of 10, then retry at %v, want %v", got, last.RetryAt, midnight)
		}
		b.wantUsed(t, daily(10), 10, 1, midnight)
		b.clock = midnight.Add(-time.Millisecond)
		if b.ask(t, 1, daily(10), 1, "").Granted {
			t.Errorf("granted before midnight: got %v, want not Granted", b.ask(t, 1, daily(10), 1, "").Granted)
		}
		b.clock = midnight
		if answer := b.ask(t, 1, daily(10), 10, ""); !answer.Granted {
			t.Errorf("at midnight: %+v, want Granted", answer)
		}
		if answer := b.ask(t, 1, daily(10), 11, ""); answer.Granted || !answer.RetryAt.IsZero() {
			t.Errorf("more than the limit: %+v, want no and never", answer)
		}
	})
}

func TestQuotasArePlugins(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.drain(t, 1, daily(3))
		other, third := daily(3), daily(3)
		other.Plugin, third.Name = "other", "search"
		for _, a := range []Allowance{other, third} {
			if !b.ask(t, 1, a, 3, "").Granted {
				t.Errorf("%s of %s is used up by another one, want Granted", a.Name, a.Plugin)
			}
		}
		b.wantUsed(t, daily(3), 3, 1, midnight)
		// The operator raises the limit.
		if !b.ask(t, 1, daily(5), 2, "").Granted {
			t.Errorf("the raised limit does not count: got %v, want Granted", b.ask(t, 1, daily(5), 2, "").Granted)
		}
	})
}

// Nine tenants of yesterday come late; a greedy one was there before them.
func TestAGreedyOneLeavesTheOthersTheirs(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a := daily(100)
		for other := int64(2); other <= 10; other++ {
			b.ask(t, other, a, other, "") // from 2 to 10, 54 in all
		}
		b.clock = midnight.Add(time.Hour)
		got, last := b.drain(t, 1, a)
		if got != 100-54 {
			t.Errorf("the greedy one got %d, want what nobody came for yesterday: 46", got)
		}
		free := time.Date(2026, 9, 3, 1, 0, 0, 0, time.UTC) // 18 h in Los Angeles
		if !last.RetryAt.Equal(free) {
			t.Errorf("the rest is free from %v, want %v", last.RetryAt, free)
		}
		for other := int64(2); other <= 10; other++ {
			if !b.ask(t, other, a, other, "").Granted {
				t.Errorf("tenant %d gets not even what it had yesterday, want Granted", other)
			}
		}
		b.wantUsed(t, a, 100, 10, midnight.AddDate(0, 0, 1))
	})
}

// Ten begin at once, one of them asking ten times as often.
func TestTenAtOnceShareAlike(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a, got := daily(100), map[int64]int{}
		for other := int64(1); other <= 10; other++ {
			if b.ask(t, other, a, 1, "").Granted {
				got[other]++
			}
		}
		for range 30 {
			for other := int64(1); other <= 10; other++ {
				for range 1 + 9*(1/other) {
					if b.ask(t, other, a, 1, "").Granted {
						got[other]++
					}
				}
			}
		}
		for other, n := range got {
			if n != 10 {
				t.Errorf("tenant %d got %d of a share of 10, want 10", other, n)
			}
		}
	})
}

func TestWhatIsLeftIsNotLost(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a := daily(100)
		b.ask(t, 2, a, 40, "") // yesterday
		b.clock = midnight.Add(time.Hour)
		if got, _ := b.drain(t, 1, a); got != 60 {
			t.Errorf("in the morning: %d, want 60", got)
		}
		b.clock = midnight.Add(18 * time.Hour)
		if got, last := b.drain(t, 1, a); got != 40 || !last.RetryAt.Equal(midnight.Add(24*time.Hour)) {
			t.Errorf("in the last quarter: got %d more, another try at %v; want 40, and at %v", got, last.RetryAt, midnight.Add(24*time.Hour))
		}
		// Who did not come for a whole day claims nothing.
		b.clock = midnight.Add(25 * time.Hour)
		if got, _ := b.drain(t, 1, a); got != 100 {
			t.Errorf("the day after: %d, want all", got)
		}
	})
}

func TestAnItemIsBoughtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a, first := weekly(3), b.clock
		for _, item := range []string{"espresso", "latte", "espresso", "latte", "mocha"} {
			if !b.ask(t, 1, a, 1, item).Granted {
				t.Errorf("%s is refused, want Granted", item)
			}
			b.clock = b.clock.Add(time.Hour)
		}
		b.wantUsed(t, a, 3, 1, first.Add(week))
		if answer := b.ask(t, 1, a, 1, "flat white"); answer.Granted || !answer.RetryAt.Equal(first.Add(week)) {
			t.Errorf("a fourth: %+v, want retry when the first falls out, %v", answer, first.Add(week))
		}
		if !b.ask(t, 2, a, 1, "mocha").Granted {
			t.Errorf("what another tenant bought costs again: got %v, want Granted", b.ask(t, 2, a, 1, "mocha").Granted)
		}
		b.clock = first.Add(week)
		if !b.ask(t, 1, a, 1, "flat white").Granted {
			t.Errorf("refused after the first fell out: got %v, want Granted", b.ask(t, 1, a, 1, "flat white").Granted)
		}
		if answer := b.ask(t, 1, a, 1, "espresso"); answer.Granted || !answer.RetryAt.Equal(first.Add(time.Hour+week)) {
			t.Errorf("got %+v, want what fell out to cost again, and another try at %v", answer, first.Add(time.Hour+week))
		}
	})
}

func TestAWeekRolls(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a, first := weekly(10), b.clock
		b.ask(t, 1, a, 4, "")
		b.clock = first.AddDate(0, 0, 2)
		b.ask(t, 1, a, 6, "")
		answer := b.ask(t, 1, a, 5, "")
		if want := first.AddDate(0, 0, 9).Add(time.Hour); answer.Granted || !answer.RetryAt.Equal(want) {
			t.Errorf("%+v, want retry when both fall out, %v", answer, want)
		}
		b.clock = first.Add(week)
		if b.ask(t, 1, a, 4, "").Granted {
			t.Errorf("granted before the hour of the first has fallen out: got %v, want not Granted", b.ask(t, 1, a, 4, "").Granted)
		}
		b.clock = first.Add(week + time.Hour)
		if !b.ask(t, 1, a, 4, "").Granted {
			t.Errorf("refused after the first fell out: got %v, want Granted", b.ask(t, 1, a, 4, "").Granted)
		}
	})
}

// Replicas race for more than there is, with and without items.
func TestRacingReplicasNeverGrantTooMuch(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for _, a := range []Allowance{daily(60), weekly(60)} {
			t.Run(string(a.Window), func(t *testing.T) {
				var got atomic.Int64
				var all sync.WaitGroup
				for racer := range int64(16) {
					replica := &Service{db: b.db, entries: b.entries, pacific: b.pacific, now: b.now}
					all.Go(func() {
						for n := range 8 {
							item := ""
							if a.Window == Week {
								item = fmt.Sprint(racer, "/", n)
							}
							answer, err := replica.Spend(viewer.As(context.Background(), racer%4+1), a, 1, item)
							if err != nil {
								t.Errorf("racer %d: %v", racer, err)
							}
							if answer.Granted {
								got.Add(1)
							}
						}
					})
				}
				all.Wait()
				status, err := b.Status(t.Context(), a)
				if err != nil || got.Load() != 60 || status.Used != 60 {
					t.Errorf("%s: got %d granted, %d in the ledger, %v; want 60 of each", a.Window, got.Load(), status.Used, err)
				}
			})
		}
	})
}

// The same item asked for by many at once is paid for once.
func TestRacingForOneItem(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		var all sync.WaitGroup
		for racer := range int64(12) {
			all.Go(func() {
				answer, err := b.Spend(viewer.As(context.Background(), racer+1), weekly(30), 1, "espresso")
				if err != nil || !answer.Granted {
					t.Errorf("racer %d: got %+v, %v, want it granted", racer, answer, err)
				}
			})
		}
		all.Wait()
		b.wantUsed(t, weekly(30), 1, 1, b.clock.Add(week))
	})
}

func TestWhatMakesNoSense(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		tenant := viewer.As(t.Context(), 1)
		odd := daily(10)
		odd.Window = "month"
		for name, try := range map[string]func() (Answer, error){
			"nobody":      func() (Answer, error) { return b.Spend(t.Context(), daily(10), 1, "") },
			"no units":    func() (Answer, error) { return b.Spend(tenant, daily(10), 0, "") },
			"below zero":  func() (Answer, error) { return b.Spend(tenant, daily(10), -5, "") },
			"no limit":    func() (Answer, error) { return b.Spend(tenant, daily(0), 1, "") },
			"odd window":  func() (Answer, error) { return b.Spend(tenant, odd, 1, "") },
			"no database": func() (Answer, error) { return b.Spend(cancelled(tenant), daily(10), 1, "") },
		} {
			t.Run(name, func(t *testing.T) {
				if answer, err := try(); err == nil || answer.Granted {
					t.Errorf("got %+v, %v, want an error and no grant", answer, err)
				}
			})
		}
		b.wantUsed(t, daily(10), 0, 0, time.Time{})
	})
}

func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for n := range 30 {
			b.ask(t, 1, weekly(100), 1, fmt.Sprint(n))
			b.clock = b.clock.Add(time.Minute)
		}
		b.clock = b.clock.Add(week + Kept - 10*time.Minute - time.Minute)
		b.ask(t, 1, daily(10), 1, "")
		if err := b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := storetest.Count(t, b.db, "SELECT COUNT(*) FROM quota_entries"); left != 12 {
			t.Errorf("%d entries are left, want 11 and the new one", left)
		}
	})
}

// What a request did not cost can be spent again the same day, and changes no other day.
func TestMoneyIsGivenBack(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		a := Allowance{Plugin: "shop", Name: "cost", Limit: 1_000_000, Window: UTCDay}
		back := func(units int64, since time.Time) {
			t.Helper()
			if err := b.GiveBack(viewer.As(t.Context(), 1), a, units, since); err != nil {
				t.Fatal(err)
			}
		}
		used := func(want int64) {
			t.Helper()
			if status, err := b.Status(t.Context(), a); err != nil || status.Used != want {
				t.Errorf("%d used, error %v; want %d", status.Used, err, want)
			}
		}
		b.ask(t, 1, a, 600_000, "")
		b.ask(t, 2, a, 300_000, "")
		began := b.clock
		back(250_000, began)
		used(650_000)
		back(400_000, began) // more than the tenant has left
		used(650_000)
		if !b.ask(t, 1, a, 150_000, "").Granted || !b.ask(t, 2, a, 200_000, "").Granted || b.ask(t, 1, a, 1, "").Granted {
			t.Error("want exactly what is left of the budget")
		}
		b.clock = b.clock.Add(24 * time.Hour)
		b.ask(t, 1, a, 500_000, "")
		back(400_000, began) // of the day before
		used(500_000)
		week := weekly(10)
		if err := b.GiveBack(viewer.As(t.Context(), 1), week, 1, b.clock); err == nil {
			t.Error("a week takes something back, want an error")
		}
		if err := b.GiveBack(t.Context(), a, 1, b.clock); err == nil {
			t.Error("nobody gives something back, want an error")
		}
	})
}
