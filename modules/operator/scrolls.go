package operator

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// The most entries that a list shows.
const (
	listedScrolls  = 100
	listedVerdicts = 1000
)

// Scrolls lists the newest scrolls of an account, or of all if email is empty; with a status, those
// that have it.
func (s *Service) Scrolls(ctx context.Context, email, status string) (_ []ScrollLine, err error) {
	ctx = viewer.System(ctx)
	if email != "" {
		if ctx, err = s.tenant(ctx, email); err != nil {
			return nil, err
		}
	}
	return s.needs.Scrolls.List(ctx, status, listedScrolls)
}

// RetryScroll starts a scroll of any account again, and returns the id of the new one.
func (s *Service) RetryScroll(ctx context.Context, id string) (string, error) {
	started, err := s.needs.Scrolls.Again(asOperator(ctx), id)
	if err == nil && started == "" {
		err = fmt.Errorf("there is no scroll %s", id)
	}
	return started, err
}

// Verdicts lists an account's newest verdicts, or those of one scroll.
func (s *Service) Verdicts(ctx context.Context, email, scroll string, droppedOnly bool) ([]stage.Verdict, error) {
	ctx, err := s.tenant(ctx, email)
	if err != nil {
		return nil, err
	}
	return s.needs.Scrolls.Verdicts(ctx, scroll, droppedOnly, listedVerdicts)
}

// CancelScroll cancels a scroll of any account.
func (s *Service) CancelScroll(ctx context.Context, id string) error {
	status, done, err := s.needs.Scrolls.Cancel(viewer.System(ctx), id)
	switch {
	case err != nil:
		return err
	case status == "":
		return fmt.Errorf("there is no scroll %s", id)
	case !done:
		return fmt.Errorf("scroll %s has already %s", id, status)
	}
	return nil
}
