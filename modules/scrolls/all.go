package scrolls

import (
	"context"
	"errors"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// All is what the operator does with the scrolls of all tenants.
type All struct{ *Service }

// Held is a scroll with its account.
type Held struct {
	*Scroll
	Account int64
}

// Newest lists the newest scrolls that the viewer may see; with a status, those that have it.
func (a All) Newest(ctx context.Context, status string, limit int) ([]Held, error) {
	held, err := held(ctx, a.db, status, limit)
	if err != nil {
		return nil, fmt.Errorf("list scrolls: %w", err)
	}
	return held, nil
}

// Again starts a scroll for what one that failed or was cancelled was for, as its account could.
// The start costs the account nothing, and a used up budget does not keep it from starting; new
// videos cost what they always cost. It repeats nothing; nil if there is no such scroll.
func (a All) Again(ctx context.Context, id string) (*Scroll, error) {
	number, ok := publicid.Parse(publicid.Scroll, id)
	if !ok {
		return nil, nil
	}
	row, err := orderOf(viewer.System(ctx), a.db, number)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find scroll %s: %w", id, err)
	case row == nil:
		return nil, nil
	case row.Status != Failed && row.Status != Cancelled:
		return nil, apierr.New(apierr.OperationError, "The scroll %s is %s: only one that failed or was cancelled is started again.", id, row.Status)
	case row.Template != nil && (*row.Template == importTemplate || *row.Template == youngTemplate):
		return nil, apierr.New(apierr.OperationError, "The scroll %s is one of the server's own, which starts them by itself.", id)
	}
	ctx = viewer.As(ctx, row.AccountID)
	limits, err := a.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, fmt.Errorf("limits of the account of scroll %s: %w", id, err)
	}
	switch {
	case limits.Blocked:
		return nil, errors.New("the account is blocked")
	case !limits.Active:
		return nil, errors.New("the account has no active subscription")
	}
	again, _, err := a.Create(ctx, Start{Prompt: row.Prompt, Template: row.Template})
	return again, err
}

// Stop cancels every scroll of an account that has not ended, imports among them.
func (a All) Stop(ctx context.Context, account int64) error {
	return a.db.Write(viewer.As(ctx, account), func(ctx context.Context, tx *store.Tx) error {
		return a.history.CancelSubject(ctx, tx, "")
	})
}
