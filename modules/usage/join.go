package usage

import (
	"context"
	"fmt"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Join implements api.Joiner: the first write under the context takes the event along in
// its transaction, and later ones none. So the event of a call that writes costs no
// commit of its own, and is there if and only if the write is.
func (r *Recorder) Join(ctx context.Context, event func() api.Event) (context.Context, api.Joined) {
	j := &joined{recorder: r, event: event}
	ctx = store.WithRider(ctx, j.ride)
	if r.rows.hot.groupAt != nil {
		ctx = context.WithValue(ctx, joinedKey{}, j)
	}
	return ctx, j
}

// joined is the event of one call on its way into a write.
type joined struct {
	recorder *Recorder
	event    func() api.Event

	// mu is held by the write, or the question of [RecordAt], that takes the event along,
	// until it has ended.
	mu      sync.Mutex
	closed  bool // nothing may take the event along any more
	written *api.Event
	id      int64
}

func (j *joined) ride(ctx context.Context, tx *store.Tx) (ended func(committed bool), err error) {
	if !j.mu.TryLock() {
		return nil, nil // another write of the call, at the same time, takes it along
	}
	if j.closed {
		j.mu.Unlock()
		return nil, nil
	}
	e := j.event()
	ended = func(committed bool) {
		defer j.mu.Unlock()
		if committed {
			j.closed, j.written = true, &e
		}
	}
	j.id = j.recorder.rows.db.NewID()
	return ended, j.recorder.rows.addIn(ctx, tx, j.id, rowOf(e))
}

// Close implements api.Joined. It waits for a write that has the event and has not ended.
func (j *joined) Close() *api.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return j.written
}

// Amend implements api.Joined.
func (j *joined) Amend(ctx context.Context, e api.Event) error {
	row, less := rowOf(e), rowOf(*j.written)
	err := j.recorder.rows.db.Write(store.WithRider(ctx, nil), func(ctx context.Context, tx *store.Tx) error {
		if _, err := j.recorder.rows.hot.amend.ExecIn(ctx, tx, j.id, row.status); err != nil {
			return err
		}
		row.units -= less.units
		return j.recorder.rows.addCounters(ctx, tx, row)
	})
	if err != nil {
		return fmt.Errorf("amend a usage event: %w", err)
	}
	return nil
}

// addIn writes one event and what it costs.
func (r rows) addIn(ctx context.Context, tx *store.Tx, id int64, e event) error {
	if _, err := r.hot.one.ExecIn(ctx, tx, id, orNull(e.accountID), orNull(e.keyID), e.op, e.status, e.at.UnixMilli()); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return r.addCounters(ctx, tx, e)
}

// addCounters adds the units of an event, which may be below 0, in the order of countersOf.
func (r rows) addCounters(ctx context.Context, tx *store.Tx, e event) error {
	if e.accountID == 0 || e.units == 0 {
		return nil
	}
	tx.AfterCommit(func() { r.pending.changed(e.accountID) })
	for _, day := range []int{Month(e.at), Day(e.at)} {
		if _, err := r.hot.add.ExecIn(ctx, tx, r.db.NewID(), e.accountID, day, e.units); err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
	}
	return nil
}
