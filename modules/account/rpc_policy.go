package account

import (
	"context"
	"time"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// getPolicy returns the configuration of the server: it is the same for all accounts.
func (s *Service) getPolicy(context.Context, *scrolleryv1.GetPolicyRequest) (*scrolleryv1.GetPolicyResponse, error) {
	answer := &scrolleryv1.GetPolicyResponse{EraseAfterDays: int32(grace / (24 * time.Hour))}
	for _, kept := range s.cfg.Kept {
		shown := &scrolleryv1.KeptData{Data: kept.Data, Description: kept.Description}
		if kept.For > 0 {
			days := kept.For.Hours() / 24
			shown.Days = &days
		}
		answer.Kept = append(answer.Kept, shown)
	}
	return answer, nil
}
