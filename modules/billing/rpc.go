package billing

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/door"
	"github.com/scrollery/scrollery/modules/fault"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the room on both doors.
func (s *Service) Operations(m *door.Mux) {
	door.Unary(m, "GetPricing", s.getPricing)
	door.Unary(m, "Subscribe", s.subscribe)
	door.Unary(m, "ClaimSubscription", s.claimSubscription)
	door.Unary(m, "Topup", func(context.Context, *pb.TopupRequest) (*pb.TopupResponse, error) {
		return nil, noCredits()
	})
	door.Unary(m, "ConfirmTopup", func(context.Context, *pb.ConfirmTopupRequest) (*pb.ConfirmTopupResponse, error) {
		return nil, noCredits()
	})
	door.Unary(m, "Signup", func(context.Context, *pb.SignupRequest) (*pb.SignupResponse, error) {
		return nil, noCredits()
	})
	door.Unary(m, "ClaimSignup", func(context.Context, *pb.ClaimSignupRequest) (*pb.ClaimSignupResponse, error) {
		return nil, noCredits()
	})
}

// noCredits is the answer of the older endpoints: this server sells no credits.
func noCredits() error {
	return &fault.Error{Kind: fault.UpstreamError, Message: "The credit checkout is not configured on this server."}
}

func (s *Service) getPricing(context.Context, *pb.GetPricingRequest) (*pb.GetPricingResponse, error) {
	standard := pricing(s.cfg.Standard)
	return &pb.GetPricingResponse{
		//lint:ignore SA1019 older callers read it
		Plan:  standard,
		Plans: &pb.Plans{Standard: standard, Pro: pricing(s.cfg.Pro)},
	}, nil
}

func pricing(plan Plan) *pb.Plan {
	return &pb.Plan{
		Id:                      PlanID,
		PlanKey:                 plan.Key,
		Label:                   plan.Label,
		MonthlyPrice:            float64(plan.MonthlyCents) / 100,
		AnnualPrice:             float64(plan.AnnualCents) / 100,
		AnnualMonthlyEquivalent: float64(plan.annualMonthlyCents()) / 100,
		MaxFeedSize:             int32(plan.MaxFeedSize),
		Workspaces:              int32(plan.Workspaces),
	}
}

func (s *Service) subscribe(ctx context.Context, req *pb.SubscribeRequest) (*pb.SubscribeResponse, error) {
	plan := s.cfg.Standard.Key
	if req.Plan != nil {
		plan = req.GetPlan()
	}
	url, token, err := s.Subscribe(ctx, plan, req.GetBillingInterval())
	if err != nil {
		return nil, err
	}
	return &pb.SubscribeResponse{Url: url, ClaimToken: token}, nil
}

func (s *Service) claimSubscription(ctx context.Context, req *pb.ClaimSubscriptionRequest) (*pb.ClaimSubscriptionResponse, error) {
	claim, err := s.ClaimSubscription(ctx, req.GetClaimToken())
	if err != nil {
		return nil, err
	}
	resp := &pb.ClaimSubscriptionResponse{Status: claim.Status}
	if claim.APIKey != "" {
		resp.ApiKey = proto.String(claim.APIKey)
	}
	if claim.AccountID != "" {
		resp.AccountId = proto.String(claim.AccountID)
		resp.Plan = proto.String(PlanID)
	}
	if claim.Interval != "" {
		resp.BillingInterval = proto.String(claim.Interval)
	}
	return resp, nil
}
