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

// Scrolls lists an account's newest scrolls.
func (s *Service) Scrolls(ctx context.Context, email string) ([]ScrollLine, error) {
	ctx, err := s.tenant(ctx, email)
	if err != nil {
		return nil, err
	}
	return s.needs.Scrolls.List(ctx, listedScrolls)
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
