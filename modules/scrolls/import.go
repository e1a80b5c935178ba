package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Imported is what an import did.
type Imported struct {
	// ScrollID is the scroll that stands for it; 0 where it brought nothing new.
	ScrollID int64
	// Parts are the tallies by [Reading.Part].
	Parts []Tally
}

// Sum is the tally of all parts.
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

// Import loads readings into the tenant's library, by way of a scroll that has them
// for its only source: so they are observed, rated and counted like any others. No
// rule, no limit and no budget applies. next ends with io.EOF.
//
// It can be made again, whatever became of it: a reading that the library has is
// not added twice, and an import of the tenant that was cut off is ended first. One
// that brings nothing new leaves no scroll, since an empty one would tell of no
// growth. It returns when the scroll has ended.
func (s *Service) Import(ctx context.Context, next func() ([]Reading, error)) (done Imported, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return done, errors.New("import: no tenant in the context")
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	switch {
	case err != nil:
		return done, fmt.Errorf("import: workspace: %w", err)
	case !briefed:
		return done, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you import videos.")
	}
	if err := s.pickUp(ctx, account); err != nil {
		return done, fmt.Errorf("import: end an earlier one: %w", err)
	}
	row := &claimRow{ID: s.db.NewID(), Account: account, Status: Running, Template: importTemplate, Subject: subject}
	r := s.newRun(row, Limits{})
	in, err := s.newIntake(ctx, r, next)
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	switch err := in.look(ctx); {
	case errors.Is(err, io.EOF):
		return Imported{Parts: in.tallies}, nil
	case err != nil:
		return Imported{Parts: in.tallies}, fmt.Errorf("import: %w", err)
	}
	err = s.runImport(ctx, r, row, in)
	return Imported{ScrollID: r.id, Parts: in.tallies}, err
}

// runImport goes through the stages of an import that has something to bring.
func (s *Service) runImport(ctx context.Context, r *run, row *claimRow, in *intake) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.insertImport(ctx, tx, row); err != nil {
			return err
		}
		return startRow(ctx, tx, row, Plan, s.now().UnixMilli())
	})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	r.state.stage, r.intake = Plan, in
	if end, ok := s.signals.begin(r.id, cancel); ok {
		defer end()
	}
	if err := r.execute(running, cancel); err != nil {
		return errors.Join(fmt.Errorf("import: %w", err), r.abandon(ctx))
	}
	return nil
}

// abandon leaves an import that did not come to its end to whoever picks it up, as
// soon as it has put something away; else it has failed.
func (r *run) abandon(ctx context.Context) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if r.feedLost() {
		return r.fail(after, internalFailure)
	}
	return ignoreLost(r.s.db.Write(after, func(ctx context.Context, tx *store.Tx) error {
		return r.putDown(ctx, tx, r.attempt)
	}))
}

// pickUp ends the tenant's imports whose command was lost. What such a one has put
// away is archived by it, so that it counts as one scroll's; what it had not yet
// read comes with the next. It waits for a pulse where one may still come.
func (s *Service) pickUp(ctx context.Context, account int64) error {
	rows, err := s.runningImports(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		lost, err := s.silent(ctx, row.ID, row.HeartbeatAt)
		if err != nil {
			return err
		}
		if !lost {
			continue
		}
		s.log.Info("an import was cut off: ending it", "scroll", row.ID)
		if err := s.work(ctx, jobArgs{account, row.ID, row.Attempt + 1}); err != nil {
			s.log.Warn("could not end an import that was cut off", "scroll", row.ID, "error", err)
		}
	}
	return nil
}

// silent waits until a running import has shown a pulse, or was too long without one.
func (s *Service) silent(ctx context.Context, id, first int64) (bool, error) {
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
