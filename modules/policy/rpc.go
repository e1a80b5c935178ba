package policy

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the table on every protocol.
func (s *Service) Operations(m *api.Mux) { api.Unary(m, "GetPolicy", s.getPolicy) }

// getPolicy shows the table with the operator's settings, and what the caller's library has.
func (s *Service) getPolicy(ctx context.Context, _ *pb.GetPolicyRequest) (*pb.GetPolicyResponse, error) {
	answer := &pb.GetPolicyResponse{EraseAfterDays: int32(s.cfg.EraseAfter.Hours() / 24), Version: int32(s.table.Version)}
	for _, kept := range s.table.Kept {
		shown := &pb.KeptData{Data: kept.Data, Description: kept.Description}
		if life := s.cfg.Lives[kept.Data]; life > 0 {
			days := life.Hours() / 24
			shown.Days = &days
		}
		answer.Kept = append(answer.Kept, shown)
	}
	held, err := s.holdings.Held(ctx)
	for _, one := range held {
		answer.Sources = append(answer.Sources, s.held(one))
	}
	return answer, err
}

// held is what a library has from a source, with the end of it.
func (s *Service) held(h Held) *pb.HeldSource {
	shown := &pb.HeldSource{Source: h.Source, Observations: float64(h.Observations), OldestAt: float64(h.OldestAt)}
	for _, end := range s.Ends() {
		if end.Source != h.Source {
			continue
		}
		days, due := float64(end.Days), float64(h.OldestAt+(time.Duration(end.Days)*24*time.Hour).Milliseconds())
		shown.Days, shown.NextDueAt, shown.Deletes = &days, &due, proto.String(cmp.Or(end.Deletes, All))
	}
	return shown
}
