package credits

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const payer = 7

// charging returns a ledger with credits of the payer, and the payer's context.
func charging(t *testing.T, db *store.DB, credits int64) (*Service, context.Context) {
	t.Helper()
	s := New(db)
	if _, err := s.Grant(t.Context(), payer, credits, "gift"); err != nil {
		t.Fatal(err)
	}
	return s, viewer.As(t.Context(), payer)
}

// movements are the payer's entries after the gift, oldest first: `fee-50 return+50`.
func (s *Service) movements(t *testing.T) string {
	t.Helper()
	list, err := s.Entries(context.Background(), payer, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for i := len(list) - 2; i >= 0; i-- {
		sign := ""
		if list[i].Amount >= 0 {
			sign = "+"
		}
		said = append(said, list[i].Reason+sign+strconv.FormatInt(list[i].Amount, 10))
	}
	return strings.Join(said, " ")
}

// charges returns the number of open charges.
func (s *Service) charges(t *testing.T) int {
	t.Helper()
	open, err := s.entries.lostCharges(t.Context(), time.Now().Add(time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// wantCharged compares the payer's movements, and wants nothing held and no open charge.
func (s *Service) wantCharged(t *testing.T, want string) {
	t.Helper()
	now, err := s.Balance(t.Context(), payer)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.movements(t); got != want || now.Held != 0 || s.charges(t) != 0 {
		t.Errorf("got %q with %d held, %d open charges; want %q, 0 and 0", got, now.Held, s.charges(t), want)
	}
}

// A call that lasts twice as long as a process may be silent keeps its charge.
func TestAChargeWithHeartbeatsIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := charging(t, db, 100)
		s.stale = 8 * time.Second
		shorter := *s
		shorter.stale = time.Second
		alive, c, err := shorter.Open(ctx, payer, 50, Agent) // beats as often as one of a second must
		if err != nil {
			t.Fatal(err)
		}
		first, err := s.entries.lostCharges(t.Context(), time.Now().Add(time.Hour), 0)
		if err != nil || len(first) != 1 {
			t.Fatalf("got %v, error %v; want one open charge", first, err)
		}
		opened := time.Now()
		for silent, err := s.entries.lostCharges(t.Context(), opened, 0); len(silent) > 0; silent, err = s.entries.lostCharges(t.Context(), opened, 0) {
			if err != nil || t.Context().Err() != nil {
				t.Fatal(err, t.Context().Err())
			}
			time.Sleep(20 * time.Millisecond) // until a heartbeat has come
		}
		if err := s.SettleLost(t.Context()); err != nil || alive.Err() != nil {
			t.Fatal(err, alive.Err())
		}
		if owed, err := c.Close(ctx, true); err != nil || owed {
			t.Errorf("got owed %t, error %v; want the charge closed", owed, err)
		}
		s.wantCharged(t, "fee-50")
	})
}

// A process that counts as lost may live after all. Its fee is returned, so it has no
// answer to give, and does not return the fee again.
func TestAClosedChargeAllowsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"answered": true, "failed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				s, ctx := charging(t, db, 100)
				s.stale = time.Second
				alive, c, err := s.Open(ctx, payer, 50, Agent)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(c.Hold(ctx, true), c.Started(ctx)); err != nil {
					t.Fatal(err)
				}
				later := *s
				later.now = func() time.Time { return time.Now().Add(time.Hour) }
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						if err := later.SettleLost(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				<-alive.Done()
				if cause := context.Cause(alive); !errors.Is(cause, ErrClosed) {
					t.Errorf("the call ended with %v, want %v", cause, ErrClosed)
				}
				owed, err := c.Close(ctx, answered)
				if owed || answered != errors.Is(err, ErrClosed) || !answered && err != nil {
					t.Errorf("got owed %t, error %v; want not owed, and %v of an answer alone", owed, err, ErrClosed)
				}
				s.wantCharged(t, "fee-50 run-1 return+50")
			})
		})
	}
}

// Every state that a lost process can leave.
func TestWhatALostProcessLeaves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave  func(ctx context.Context, c *Charge) error
		ledger string
	}{
		"the fee": {func(context.Context, *Charge) error { return nil }, "fee-50 return+50"},
		"a program that did not start": {func(ctx context.Context, c *Charge) error {
			return c.Hold(ctx, true)
		}, "fee-50 return+50"},
		"a program in its first second": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Started(ctx))
		}, "fee-50 run-1 return+50"},
		"a program in its third second": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Started(ctx), c.Hold(ctx, false), c.Hold(ctx, false))
		}, "fee-50 run-3 return+50"},
		"a program that ended": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Started(ctx), settled(ctx, c))
		}, "fee-50 run-1 return+50"},
		"a second program that did not start": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Started(ctx), settled(ctx, c), c.Hold(ctx, true))
		}, "fee-50 run-1 return+50"},
		"two programs": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Started(ctx), settled(ctx, c), c.Hold(ctx, true), c.Started(ctx), c.Hold(ctx, false))
		}, "fee-50 run-1 run-2 return+50"},
		"a program after one that held and never heard so": {func(ctx context.Context, c *Charge) error {
			return errors.Join(c.Hold(ctx, true), c.Hold(ctx, true), c.Started(ctx))
		}, "fee-50 run-1 return+50"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				s, ctx := charging(t, db, 100)
				_, charge, err := s.Open(ctx, payer, 50, Agent)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.leave(ctx, charge); err != nil {
					t.Fatal(err)
				}
				charge.stop()
				if err := s.SettleLost(t.Context()); err != nil || strings.Contains(s.movements(t), "return") {
					t.Fatalf("too soon: got %s, error %v; want no return", s.movements(t), err)
				}
				s.now = func() time.Time { return time.Now().Add(time.Minute) }
				for range 2 {
					if err := s.SettleLost(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				s.wantCharged(t, c.ledger)
			})
		})
	}
}

func settled(ctx context.Context, c *Charge) error {
	_, err := c.Settle(ctx, true)
	return err
}

// More are lost than are read at once, and one of them cannot be closed.
func TestOneLostChargeDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	s, ctx := charging(t, db, 1<<20)
	var broken int64
	for i := range lostAtOnce + 10 {
		_, c, err := s.Open(ctx, payer, 50, Brief)
		if err != nil {
			t.Fatal(err)
		}
		c.stop()
		if i == 3 {
			broken = c.row.ID
		}
	}
	storetest.Exec(t, db, "UPDATE charges SET fee = $1 WHERE id = $2", int64(MaxMovement+1), broken) // no movement is as big
	s.now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := s.SettleLost(t.Context()); err == nil {
		t.Error("the one that cannot be closed is not reported, want an error")
	}
	if returned := strings.Count(s.movements(t), "return+50"); returned != lostAtOnce+9 {
		t.Errorf("%d fees are returned, want %d", returned, lostAtOnce+9)
	}
	if left, err := s.entries.lostCharges(t.Context(), s.now(), 0); err != nil || len(left) != 1 || left[0].ID != broken {
		t.Errorf("left: got %v, error %v; want charge %d alone", left, err, broken)
	}
}

// A call may show that it lives after it was found silent, and before it is closed.
func TestAChargeThatBeatsInTimeIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := charging(t, db, 100)
		_, c, err := s.Open(ctx, payer, 50, Agent)
		if err != nil {
			t.Fatal(err)
		}
		defer c.stop()
		lock := func(since time.Time) error {
			return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := lockLostCharge(ctx, tx, c.row.ID, since, time.Now())
				return err
			})
		}
		if err := lock(time.Now().Add(-time.Minute)); !errors.Is(err, ErrClosed) {
			t.Errorf("one that beat since: %v, want %v", err, ErrClosed)
		}
		if err := lock(time.Now().Add(time.Minute)); err != nil {
			t.Errorf("one that did not: %v", err)
		}
	})
}
