package scrolls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const day = 24 * time.Hour

// StartDue starts the scrolls of recurrences whose time has come. One tenant's
// trouble is no other's.
func (s *Service) StartDue(ctx context.Context) error {
	rows, err := s.due(viewer.System(ctx), s.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("find due recurrences: %w", err)
	}
	var faults []error
	for _, row := range rows {
		if err := s.startDue(viewer.As(ctx, row.AccountID), row); err != nil {
			faults = append(faults, fmt.Errorf("recurrence %d: %w", row.ID, err))
		}
	}
	return errors.Join(faults...)
}

// startDue starts one, unless the subscription is not active, the budget is spent
// or a scroll is active; the next time comes either way. No call admits a scheduled
// start, so what admission would refuse is refused here.
func (s *Service) startDue(ctx context.Context, row dueRow) error {
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	spent, err := s.needs.Plans.BudgetSpent(ctx)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	start := Start{Prompt: row.Prompt, Template: row.Template, Schedule: &row.EveryDays}
	_, known := s.cfg.template(start.Template)
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := lockAccount(ctx, tx, row.AccountID); err != nil {
			return err
		}
		if mine, err := s.advance(ctx, tx, row, nextTime(row.NextAt, row.EveryDays, s.now())); err != nil || !mine {
			return err
		}
		active, err := countActive(ctx, tx, row.AccountID)
		if err != nil {
			return err
		}
		if !limits.Active || spent || !briefed || !known || active > 0 {
			s.log.Info("scheduled scroll skipped", "account", row.AccountID,
				"subscription", limits.Active, "spent", spent, "workspace", briefed, "template", known, "active", active)
			return nil
		}
		if _, err := s.insert(ctx, tx, row.AccountID, subject, start); err != nil {
			return err
		}
		return s.needs.Charger.Charge(ctx, tx, row.AccountID, s.cfg.StartUnits)
	})
}

// nextTime is the first time after now that is a whole number of intervals after
// last. Days have 24 hours: the calendar is UTC.
func nextTime(last int64, everyDays int, now time.Time) int64 {
	step := (time.Duration(everyDays) * day).Milliseconds()
	if passed := now.UnixMilli() - last; passed >= 0 {
		last += (passed/step + 1) * step
	}
	return last
}
