package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
)

// Imported is the result of an import.
type Imported struct {
	// ScrollID is the scroll of the import; 0 where nothing was new.
	ScrollID int64
	// Parts are the tallies by [Reading.Part].
	Parts []Tally
}

// Sum returns the tally of all parts.
func (i Imported) Sum() (sum Tally) {
	for _, t := range i.Parts {
		sum.New += t.New
		sum.Again += t.Again
		sum.Same += t.Same
		sum.Repeated += t.Repeated
		sum.Refused += t.Refused
	}
	return sum
}

// importLimits returns the limits of an import: it belongs to the operator, so no
// subscription and no budget applies.
func importLimits() Limits { return Limits{Active: true, MaxFeedSize: math.MaxInt, Unmetered: true} }

// Import loads readings into the tenant's library. They are the only source of a
// scroll, so they are observed, rated and counted like any other records. next ends
// with io.EOF. Import returns when the scroll has ended.
//
// An import can be repeated after any failure: a reading that the library has is not
// added twice, and an earlier import of the tenant that was cut off is ended first.
// One that finds nothing new leaves no scroll, since an empty scroll would show no
// growth.
func (s *Service) Import(ctx context.Context, next func() ([]Reading, error)) (done Imported, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return done, errors.New("import: no tenant in the context")
	}
	_, briefed, err := s.needs.Workspaces.Subject(ctx)
	switch {
	case err != nil:
		return done, fmt.Errorf("import: workspace: %w", err)
	case !briefed:
		return done, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you import videos.")
	}
	if err := s.endLostImports(ctx, account); err != nil {
		return done, fmt.Errorf("import: end an earlier one: %w", err)
	}
	r := s.newRun(&claimRow{ID: s.db.NewID(), Account: account, Template: importTemplate}, importLimits())
	in, err := r.newIntake(ctx, next)
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	switch err := in.look(ctx); {
	case errors.Is(err, io.EOF):
		return Imported{Parts: in.tallies}, nil
	case err != nil:
		return Imported{Parts: in.tallies}, fmt.Errorf("import: %w", err)
	}
	err = r.runImport(ctx, in)
	return Imported{ScrollID: r.id, Parts: in.tallies}, err
}

// newIntake makes the readings of next the source of the run.
func (r *run) newIntake(ctx context.Context, next func() ([]Reading, error)) (*intake, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	in := &intake{
		Stages: r.s.needs.Stages, r: r, next: next,
		seeds: plan.Seeds(r.call.Brief, nil, "", r.template.options(0)),
	}
	r.stages, r.more = in, in.more
	return in, nil
}

// runImport performs the steps of an import that has fresh readings. It begins with
// collect, since there is nothing to plan.
func (r *run) runImport(ctx context.Context, in *intake) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.state.step, r.state.checkpoint = Collect, Plan
	r.state.progress.raise(percent(Plan, 1))
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.insertImport(ctx, tx) })
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if end, ok := r.s.signals.begin(r.id, cancel); ok {
		defer end()
	}
	if err := r.execute(running, cancel); err != nil {
		if errors.Is(context.Cause(running), errLost) {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return errors.Join(fmt.Errorf("import: %w", err), r.abandon(ctx, err))
	}
	return nil
}

// abandon fails an import that was cut off before it stored a portion. The next
// import ends any other.
func (r *run) abandon(ctx context.Context, cause error) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if r.snapshot().checkpoint == Plan {
		return r.fail(after, internalFailure, cause)
	}
	return ignoreLost(r.s.db.Write(after, func(ctx context.Context, tx *store.Tx) error {
		return r.putDown(ctx, tx, r.attempt)
	}))
}

// endLostImports ends the tenant's imports whose command was lost. Such an import
// archives the portion that it had stored. Where its worker may still be alive, the
// call waits for a heartbeat.
func (s *Service) endLostImports(ctx context.Context, account int64) error {
	rows, err := s.runningImports(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		lost, err := s.isLost(ctx, row.ID, row.HeartbeatAt)
		if err != nil {
			return err
		}
		if !lost {
			continue
		}
		s.log.Info("an import was cut off: ending it", "scroll", publicid.Format(publicid.Scroll, row.ID))
		if err := s.work(ctx, jobArgs{account, row.ID, row.Attempt + 1}); err != nil {
			s.log.Warn("could not end an import that was cut off", "scroll", publicid.Format(publicid.Scroll, row.ID), "error", err)
		}
	}
	return nil
}

// isLost waits until a running import has a new heartbeat, or had none for too long.
func (s *Service) isLost(ctx context.Context, id, first int64) (bool, error) {
	for {
		row, err := s.importPulse(ctx, id)
		switch {
		case err != nil:
			return false, err
		case row == nil || row.HeartbeatAt != first:
			return false, nil
		case first == 0 || s.now().Sub(time.UnixMilli(first)) > s.cfg.Stale:
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(min(s.cfg.Heartbeat, 500*time.Millisecond)):
		}
	}
}
