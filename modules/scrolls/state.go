package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// state is the part of a scroll's row that its worker writes.
type state struct {
	step, checkpoint string
	newVideos        int
	progress         Progress
	subject          string
	rulesVersion     int
}

// weights are the share of each step in the percentage, in the order of Steps.
func weights() []float64 { return []float64{2, 38, 12, 14, 14, 15, 5} }

// percent is the progress of a scroll that has done a fraction of a step. Only the
// end itself is 100.
func percent(step string, fraction float64) float64 {
	var sum float64
	for i, name := range Steps() {
		if name == step {
			return min(99, float64(int(sum+weights()[i]*min(1, max(0, fraction)))))
		}
		sum += weights()[i]
	}
	return 0
}

// commit runs do in a transaction that only the scroll's own worker can commit. do
// changes a copy of the state, which is valid once it is committed. With must, the
// state is written with it; otherwise at most every ProgressEvery.
func (r *run) commit(ctx context.Context, must bool, do func(ctx context.Context, tx *store.Tx, next *state) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next state
	write := must || r.s.now().Sub(r.written) >= r.s.cfg.ProgressEvery
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		next = r.state
		next.progress = next.progress.clone()
		now := r.s.now().UnixMilli()
		// First, so that the row is locked before anything of it is written.
		if err := r.fence(ctx, tx, now); err != nil {
			return err
		}
		if err := do(ctx, tx, &next); err != nil || !write {
			return err
		}
		return r.save(ctx, tx, next, now)
	})
	if err != nil {
		return err
	}
	if r.state = next; write {
		r.written = r.s.now()
		r.s.signals.changed(r.id)
	}
	return nil
}

// note changes the progress, and writes it where that is due.
func (r *run) note(ctx context.Context, change func(next *state)) error {
	r.mu.Lock()
	r.state.progress = r.state.progress.clone()
	change(&r.state)
	due := r.s.now().Sub(r.written) >= r.s.cfg.ProgressEvery
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.commit(ctx, true, func(context.Context, *store.Tx, *state) error { return nil })
}

// finish writes the checkpoint of a step together with its last results.
func (r *run) finish(ctx context.Context, step string, do func(ctx context.Context, tx *store.Tx, next *state) error) error {
	r.pause(ctx, step, "end")
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		if do != nil {
			if err := do(ctx, tx, next); err != nil {
				return err
			}
		}
		next.checkpoint, next.step = step, nextStep(step)
		next.progress.raise(percent(step, 1))
		return nil
	})
}

// snapshot returns a copy of the state.
func (r *run) snapshot() state {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := r.state
	copied.progress = copied.progress.clone()
	return copied
}
