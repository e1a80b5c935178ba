package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// waiting is a planner that says when it is asked, and answers when it may.
type waiting struct {
	first        []Call
	asked, reply chan struct{}
}

func newWaiting(first ...Call) *waiting {
	return &waiting{first: first, asked: make(chan struct{}), reply: make(chan struct{})}
}

func (w *waiting) Begin(string) Session        { return w }
func (w *waiting) Enter(context.Context) error { return nil }
func (w *waiting) Close()                      {}

func (w *waiting) Next(ctx context.Context, seen []Observation) (Move, error) {
	if len(w.first) > 0 && len(seen) == 0 {
		return Move{Calls: w.first}, nil
	}
	close(w.asked)
	select {
	case <-w.reply:
		return Move{Answer: "done"}, nil
	case <-ctx.Done():
		return Move{}, context.Cause(ctx)
	}
}

// count returns the number of open calls.
func (b *bench) count(t *testing.T) int {
	t.Helper()
	lost, err := b.lostMeters(t.Context(), time.Now().Add(time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(lost)
}

func TestACallThatLivesIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := livesOn(t, db, time.Second)
		if err != nil { // the machine itself stalled for so long
			t.Logf("stale after 1 s: %v", err)
			err = livesOn(t, db, 8*time.Second)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// livesOn has a call last for twice the time after which one is lost that says nothing.
func livesOn(t *testing.T, db *store.DB, stale time.Duration) error {
	t.Helper()
	planner := newWaiting()
	b, ctx := setupOn(t, db, func(cfg *Config, needs *Needs) {
		needs.Planner = planner
		cfg.Agent.Stale = stale
	})
	done := make(chan error, 1)
	go func() {
		_, err := b.RunAgent(ctx, "goal")
		done <- err
	}()
	<-planner.asked
	if b.count(t) != 1 {
		t.Fatalf("got %d calls on record, want 1", b.count(t))
	}
	for until := time.Now().Add(2 * stale); time.Now().Before(until); {
		if err := b.Rescue(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	close(planner.reply)
	if err := <-done; err != nil {
		return fmt.Errorf("got %w, want an answer", err)
	}
	if b.ledger.String() != "fee-50" || b.count(t) != 0 {
		t.Errorf(`ledger %q, %d calls are open, want text "fee-50" and count 0`, b.ledger, b.count(t))
	}
	return nil
}

// A process that was taken for lost may live after all. Its fee is returned, so it
// has no answer to give, and does not return the fee again.
func TestACallThatWasGivenUpHasNoAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		planner := newWaiting(Call{ID: "1", Tool: RunProgram, Arguments: `{"source":"x"}`})
		b, ctx := setupOn(t, db, func(_ *Config, needs *Needs) { needs.Planner = planner })
		b.second = time.Hour
		done := make(chan error, 1)
		go func() {
			answer, err := b.RunAgent(ctx, "goal")
			if answer.Output != "" {
				t.Errorf("%+v, want empty", answer)
			}
			done <- err
		}()
		<-planner.asked
		later := *b.Service
		later.now = func() time.Time { return time.Now().Add(time.Hour) }
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := later.Rescue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		close(planner.reply)
		if f := apierr.As(<-done); f == nil || f.Kind != apierr.UpstreamError || !f.Retryable || !errors.Is(f, errLost) {
			t.Errorf("got %+v, want a retryable %s because the call is lost", f, apierr.UpstreamError)
		}
		if b.ledger.String() != "fee-50 run-1 return+50" || b.count(t) != 0 {
			t.Errorf(`ledger %q, %d calls are open, want text "fee-50 run-1 return+50" and count 0`, b.ledger, b.count(t))
		}
	})
}

// Every state that a lost process can leave.
func TestWhatALostCallLeaves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave  func(ctx context.Context, meter *meter) error
		ledger string
	}{
		"the fee": {func(context.Context, *meter) error { return nil }, "fee-50 return+50"},
		"a program that did not start": {func(ctx context.Context, meter *meter) error {
			return meter.hold(ctx, true)
		}, "fee-50 return+50"},
		"a program in its first second": {func(ctx context.Context, meter *meter) error {
			return errors.Join(meter.hold(ctx, true), meter.stepped(ctx))
		}, "fee-50 run-1 return+50"},
		"a program in its third second": {func(ctx context.Context, meter *meter) error {
			return errors.Join(meter.hold(ctx, true), meter.stepped(ctx), meter.hold(ctx, false), meter.hold(ctx, false))
		}, "fee-50 run-3 return+50"},
		"a program that ended": {func(ctx context.Context, meter *meter) error {
			return errors.Join(meter.hold(ctx, true), meter.stepped(ctx), finished(ctx, meter))
		}, "fee-50 run-1 return+50"},
		"a second program that did not start": {func(ctx context.Context, meter *meter) error {
			return errors.Join(meter.hold(ctx, true), meter.stepped(ctx), finished(ctx, meter), meter.hold(ctx, true))
		}, "fee-50 run-1 return+50"},
		"two programs": {func(ctx context.Context, meter *meter) error {
			return errors.Join(meter.hold(ctx, true), meter.stepped(ctx), finished(ctx, meter), meter.hold(ctx, true), meter.stepped(ctx), meter.hold(ctx, false))
		}, "fee-50 run-1 run-2 return+50"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b, ctx := setupOn(t, db, nil)
				meter, err := b.open(ctx, 7)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.leave(ctx, meter); err != nil {
					t.Fatal(err)
				}
				if err := b.Rescue(t.Context()); err != nil || strings.Contains(b.ledger.String(), "return") {
					t.Fatalf(`too soon: got ledger %s, error %v; want no return in it`, b.ledger, err)
				}
				b.now = func() time.Time { return time.Now().Add(time.Minute) }
				for range 2 {
					if err := b.Rescue(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if b.ledger.String() != c.ledger || b.ledger.held != 0 {
					t.Errorf("ledger %q with %d held, want %q", b.ledger, b.ledger.held, c.ledger)
				}
			})
		})
	}
}

func finished(ctx context.Context, meter *meter) error {
	_, err := meter.finish(ctx, true)
	return err
}

// More are lost than are read at once, and one of them cannot be closed.
func TestOneLostCallDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	b, ctx := setup(t, nil)
	b.ledger.balance = 1 << 20
	var broken *meter
	for i := range lostAtOnce + 10 {
		meter, err := b.open(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			broken = meter
			b.ledger.moved[feeReference(meter.id)+":return"] = 1 // the fake refuses a second one
		}
	}
	b.now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := b.Rescue(t.Context()); err == nil {
		t.Error("the one that cannot be closed is not reported, want an error")
	}
	if returned := strings.Count(b.ledger.String(), "return+50"); returned != lostAtOnce+9 {
		t.Errorf("%d fees are returned, want %v", returned, lostAtOnce+9)
	}
	if left, err := b.lostMeters(t.Context(), b.now(), 0); err != nil || len(left) != 1 || left[0].id != broken.id {
		t.Errorf("%v, %v, want no error, 1 left and id %v", left, err, broken.id)
	}
}

// A call may show that it lives after it was found silent, and before it is closed.
func TestACallThatBeatsInTimeIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, ctx := setupOn(t, db, nil)
		meter, err := b.open(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		lock := func(since time.Time) error {
			return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := lockLostMeter(ctx, tx, meter.id, since, time.Now())
				return err
			})
		}
		if err := lock(time.Now().Add(-time.Minute)); !errors.Is(err, errLost) {
			t.Errorf("one that beat since: %v, want %v", err, errLost)
		}
		if err := lock(time.Now().Add(time.Minute)); err != nil {
			t.Errorf("one that did not: %v", err)
		}
	})
}
