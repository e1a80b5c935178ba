package account

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// getAccount returns who calls, and what the account has.
func (s *Service) getAccount(ctx context.Context, _ *scrolleryv1.GetAccountRequest) (*scrolleryv1.GetAccountResponse, error) {
	caller := viewer.FromContext(ctx)
	key, err := s.needs.Keys.Calling(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the calling key: %w", err)
	}
	free, held, err := s.needs.Credits.Balance(ctx, caller.AccountID)
	if err != nil {
		return nil, err
	}
	daily, monthly, err := s.needs.Usage.Units(ctx)
	if err != nil {
		return nil, err
	}
	answer := &scrolleryv1.GetAccountResponse{
		Key: callingKey(key), Status: caller.Status, Credits: float64(free), CreditsHeld: float64(held),
		Daily: unitBudget(daily), Monthly: unitBudget(monthly), Limits: s.cfg.Limits.message(),
		AccountId: publicid.Format(publicid.Account, caller.AccountID),
	}
	if answer.Status == "" {
		answer.Status = statusNone
	}
	if caller.Plan != "" {
		answer.Plan = proto.String(caller.Plan)
	}
	if caller.Interval != "" {
		answer.BillingInterval = proto.String(caller.Interval)
	}
	return answer, nil
}

func callingKey(k Key) *scrolleryv1.CallingKey {
	shown := &scrolleryv1.CallingKey{
		KeyId: k.ID, LastFour: k.Hint, Session: k.Session, Scopes: k.Scopes, CreatedAt: float64(k.CreatedAt.UnixMilli()),
	}
	if !k.ExpiresAt.IsZero() {
		shown.ExpiresAt = proto.Float64(float64(k.ExpiresAt.UnixMilli()))
	}
	return shown
}

func unitBudget(u Units) *scrolleryv1.UnitBudget {
	return &scrolleryv1.UnitBudget{Budget: float64(u.Budget), Left: float64(u.Left), RenewsAt: float64(u.RenewsAt.UnixMilli())}
}

func (l Limits) message() *scrolleryv1.AccountLimits {
	return &scrolleryv1.AccountLimits{
		CallsPerSecond: l.Rate, Burst: int32(l.Burst), CallsAtOnce: int32(l.AtOnce), StreamsPerKey: int32(l.StreamsPerKey), Streams: int32(l.Streams),
	}
}
