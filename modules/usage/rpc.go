package usage

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// planID is what the API calls every plan, and statusNone an account without one.
const (
	planID       = "research_library"
	statusActive = "active"
	statusNone   = "none"
)

// defaultEvents is the length of a list where none is asked for.
const defaultEvents = 50

// Operations mounts the module's operations on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "GetUsage", s.getUsage)
	api.Unary(m, "ListEvents", s.listEvents, checkList)
}

func (s *Service) getUsage(ctx context.Context, _ *pb.GetUsageRequest) (*pb.GetUsageResponse, error) {
	report, err := s.Report(ctx)
	if err != nil {
		return nil, err
	}
	caller := viewer.FromContext(ctx)
	resp := &pb.GetUsageResponse{
		Plan:   planID,
		Status: caller.Status,
		Active: caller.Status == statusActive,
		Usage: &pb.Usage{
			Daily:   &pb.Budget{UsedPct: int32(report.Daily)},
			Monthly: &pb.Budget{UsedPct: int32(report.Monthly)},
		},
	}
	if resp.Status == "" {
		resp.Status = statusNone
	}
	if caller.Interval != "" {
		resp.BillingInterval = proto.String(caller.Interval)
	}
	return resp, nil
}

func checkList(_ context.Context, req *pb.ListEventsRequest) error {
	if _, ok := readToken(req.GetPageToken()); !ok {
		return apierr.Invalid("pageToken", "is not a token of this list")
	}
	return nil
}

func (s *Service) listEvents(ctx context.Context, req *pb.ListEventsRequest) (*pb.ListEventsResponse, error) {
	limit := defaultEvents
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	events, next, err := s.Events(ctx, limit, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &pb.ListEventsResponse{Events: make([]*pb.UsageEvent, len(events)), NextPageToken: next}
	for i, e := range events {
		resp.Events[i] = &pb.UsageEvent{Op: e.Op, CostCents: float64(e.CostCents), Status: e.Status, Ts: float64(e.At)}
	}
	return resp, nil
}
