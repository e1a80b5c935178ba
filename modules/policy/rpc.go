package policy

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the table on every protocol.
func (s *Service) Operations(m *api.Mux) { api.Unary(m, "GetPolicy", s.getPolicy) }

// getPolicy shows the table with the operator's settings: it is the same for all accounts.
func (s *Service) getPolicy(context.Context, *pb.GetPolicyRequest) (*pb.GetPolicyResponse, error) {
	answer := &pb.GetPolicyResponse{EraseAfterDays: int32(s.cfg.EraseAfter.Hours() / 24), Version: int32(s.table.Version)}
	for _, kept := range s.table.Kept {
		shown := &pb.KeptData{Data: kept.Data, Description: kept.Description}
		if life := s.cfg.Lives[kept.Data]; life > 0 {
			days := life.Hours() / 24
			shown.Days = &days
		}
		answer.Kept = append(answer.Kept, shown)
	}
	return answer, nil
}
