package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// state is the part of a scroll's row that its worker writes.
type state struct {
	stage, checkpoint string
	newVideos         int
	progress          Progress
	subject           string
	rulesVersion      int
}

// weights are the share of each stage in the percentage, in the order of Stages.
func weights() []float64 { return []float64{2, 38, 12, 14, 14, 15, 5} }

// percent is where a scroll stands that has done a fraction of a stage. Only the
// end itself is 100.
func percent(stage string, fraction float64) float64 {
	var sum float64
	for i, name := range Stages() {
		if name == stage {
			return min(99, float64(int(sum+weights()[i]*min(1, max(0, fraction)))))
		}
		sum += weights()[i]
	}
	return 0
}

// commit runs do in a transaction that only the scroll's own worker can commit.
// do changes a copy of the state, which is in force once it is committed. With
// must, the state is written with it; else at most every ProgressEvery.
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
		if err := do(ctx, tx, &next); err != nil {
			return err
		}
		if !write {
			return nil
		}
		return r.save(ctx, tx, next, now)
	})
	if err != nil {
		return err
	}
	if r.state, r.dirty = next, !write; write {
		r.written = r.s.now()
		r.s.signals.changed(r.id)
	}
	return nil
}

// note changes what is known of the progress, and writes it when it is time to.
func (r *run) note(ctx context.Context, change func(next *state)) error {
	r.mu.Lock()
	r.state.progress = r.state.progress.clone()
	change(&r.state)
	r.dirty = true
	due := r.s.now().Sub(r.written) >= r.s.cfg.ProgressEvery
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.commit(ctx, true, func(context.Context, *store.Tx, *state) error { return nil })
}

// finish writes the checkpoint of a stage together with its last results.
func (r *run) finish(ctx context.Context, stage string, do func(ctx context.Context, tx *store.Tx, next *state) error) error {
	r.pause(ctx, stage, "end")
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		if do != nil {
			if err := do(ctx, tx, next); err != nil {
				return err
			}
		}
		next.checkpoint, next.stage = stage, nextStage(stage)
		next.progress.raise(percent(stage, 1))
		return nil
	})
}

// snapshot returns the state as it is.
func (r *run) snapshot() state {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := r.state
	copied.progress = copied.progress.clone()
	return copied
}
