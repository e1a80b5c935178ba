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
	return store.WithCommitHook(ctx, j.ride), j
}

// joined is the event of one call on its way into a write.
type joined struct {
	recorder *Recorder
	event    func() api.Event

	// mu is held by the write that takes the event along, until it has ended.
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
	row := rowOf(e)
	row.id = j.recorder.rows.db.NewID()
	j.id = row.id
	return ended, j.recorder.rows.insert(ctx, tx, []event{row})
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
	row := rowOf(e)
	row.id, row.units = j.id, row.units-rowOf(*j.written).units
	err := j.recorder.rows.db.Write(store.WithCommitHook(ctx, nil), func(ctx context.Context, tx *store.Tx) error {
		return j.recorder.rows.amend(ctx, tx, row)
	})
	if err != nil {
		return fmt.Errorf("amend a usage event: %w", err)
	}
	return nil
}
