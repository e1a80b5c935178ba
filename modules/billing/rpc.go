package billing

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the module's operations on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "GetPricing", s.getPricing)
	api.Unary(m, "Subscribe", s.startSubscription)
	api.Unary(m, "ClaimSubscription", s.claimSubscription)
	api.Unary(m, "Topup", s.topup)
	api.Unary(m, "ConfirmTopup", s.confirmTopup)
	api.Unary(m, "Signup", s.signup)
	api.Unary(m, "ClaimSignup", s.claimSignup)
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

func (s *Service) startSubscription(ctx context.Context, req *pb.SubscribeRequest) (*pb.SubscribeResponse, error) {
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
	tellPending(ctx, claim)
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

// pollEvery is how often a caller should ask about a claim that is pending. It is half
// the rate of public operations, so that polling alone is never refused.
const pollEvery = 2 * time.Second

func tellPending(ctx context.Context, claim Claim) {
	if claim.Status == ClaimPending {
		api.RetryAfter(ctx, pollEvery)
	}
}

func (s *Service) topup(ctx context.Context, req *pb.TopupRequest) (*pb.TopupResponse, error) {
	url, err := s.Topup(ctx, int64(req.GetAmountCents()))
	if err != nil {
		return nil, err
	}
	return &pb.TopupResponse{Url: url}, nil
}

func (s *Service) confirmTopup(ctx context.Context, req *pb.ConfirmTopupRequest) (*pb.ConfirmTopupResponse, error) {
	status, balance, err := s.ConfirmTopup(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	return &pb.ConfirmTopupResponse{Status: status, CreditsCents: float64(balance)}, nil
}

func (s *Service) signup(ctx context.Context, req *pb.SignupRequest) (*pb.SignupResponse, error) {
	url, token, err := s.Signup(ctx, int64(req.GetAmountCents()))
	if err != nil {
		return nil, err
	}
	return &pb.SignupResponse{Url: url, ClaimToken: token}, nil
}

func (s *Service) claimSignup(ctx context.Context, req *pb.ClaimSignupRequest) (*pb.ClaimSignupResponse, error) {
	claim, err := s.ClaimSignup(ctx, req.GetClaimToken())
	if err != nil {
		return nil, err
	}
	tellPending(ctx, claim)
	resp := &pb.ClaimSignupResponse{Status: claim.Status}
	if claim.APIKey != "" {
		resp.ApiKey, resp.CreditsCents = proto.String(claim.APIKey), proto.Float64(float64(claim.Credits))
	}
	if claim.AccountID != "" {
		resp.AccountId = proto.String(claim.AccountID)
	}
	return resp, nil
}
