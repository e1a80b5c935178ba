package stage

import (
	"context"
	"fmt"
	"sync"
	"time"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Spend asks the host for units of a quota that the spec names, before they are
// used: what a site was asked is spent, whatever it answers. Where the quota is
// used up, or this tenant's share of it, the error is a Quota with the time of
// renewal, fit to be returned as it is. It is safe for concurrent use.
func (c *Call) Spend(ctx context.Context, quota string, units int64) error {
	return c.grant(ctx, quota, units, "")
}

// SpendOn is Spend for a quota that counts different things, such as hashtags: one
// unit for an item that was not yet asked for within the window, none for another.
func (c *Call) SpendOn(ctx context.Context, quota, item string) error {
	return c.grant(ctx, quota, 1, item)
}

// GiveBack returns units of a quota of money which this call spent and a request then did not
// cost. It never returns more than the call was granted. It is safe for concurrent use.
func (c *Call) GiveBack(ctx context.Context, quota string, units int64) error {
	if c.Return == nil {
		return nil
	}
	return c.Return(ctx, quota, units)
}

func (c *Call) grant(ctx context.Context, quota string, units int64, item string) error {
	if c.Grant == nil {
		return nil
	}
	return c.Grant(ctx, quota, units, item)
}

// spender asks the host, one question at a time.
type spender struct {
	input *input
	mu    sync.Mutex
}

func (s *spender) spend(ctx context.Context, quota string, units int64, item string) error {
	grant, err := s.ask(&stagev1.CallResponse{Message: &stagev1.CallResponse_Spend{
		Spend: &stagev1.Spend{Quota: quota, Units: units, Item: item},
	}})
	if err != nil {
		return fmt.Errorf("spend %s: %w", quota, err)
	}
	if grant.GetGranted() {
		return ctx.Err()
	}
	var until time.Time
	if at := grant.GetRetryAt(); at > 0 {
		until = time.UnixMilli(at)
	}
	return Quotaf(until, "quota %s is used up", quota)
}

func (s *spender) giveBack(ctx context.Context, quota string, units int64) error {
	_, err := s.ask(&stagev1.CallResponse{Message: &stagev1.CallResponse_Spend{
		Spend: &stagev1.Spend{Quota: quota, Units: units, Back: true},
	}})
	if err != nil {
		return fmt.Errorf("give back %s: %w", quota, err)
	}
	return ctx.Err()
}

func (s *spender) keep(ctx context.Context, name, value string) error {
	_, err := s.ask(&stagev1.CallResponse{Message: &stagev1.CallResponse_Token{
		Token: &stagev1.Token{Name: name, Value: value},
	}})
	if err != nil {
		return fmt.Errorf("keep token %s: %w", name, err)
	}
	return ctx.Err()
}

// ask sends a question and waits for its answer. One that is not awaited would pass for the
// next one's, so the caller's own end has to wait for it too: the host answers at once.
func (s *spender) ask(question *stagev1.CallResponse) (*stagev1.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input.sender.mu.Lock()
	err := s.input.sender.send(question)
	s.input.sender.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case grant := <-s.input.grants:
		return grant, nil
	case <-s.input.ctx.Done():
		return nil, context.Cause(s.input.ctx)
	}
}
