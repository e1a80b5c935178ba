package billing

import (
	"context"
	"time"

	"github.com/stripe/stripe-go/v76"
)

// Reversal asks for a charge, and for what came of its disputes.
func (s *Stripe) Reversal(ctx context.Context, id string) (Reversal, error) {
	var found *stripe.Charge
	err := s.try(ctx, "load a charge", func(ctx context.Context) (err error) {
		params := &stripe.ChargeParams{}
		params.Context = ctx
		found, err = s.charges.Get(id, params)
		return err
	})
	if missing(err) {
		return Reversal{}, nil
	}
	if err != nil || found.PaymentIntent == nil {
		return Reversal{}, err
	}
	reversal := Reversal{Charge: id, Payment: found.PaymentIntent.ID, Refunded: found.AmountRefunded}
	if found.Disputed {
		reversal.Disputed, err = s.disputed(ctx, id)
	}
	return reversal, err
}

// disputed sums up the disputes of a charge that took money, or will.
func (s *Stripe) disputed(ctx context.Context, charge string) (cents int64, err error) {
	err = s.try(ctx, "load the disputes of a charge", func(ctx context.Context) error {
		params := &stripe.DisputeListParams{Charge: stripe.String(charge)}
		params.Context = ctx
		list := s.disputes.List(params)
		cents = 0
		for list.Next() {
			cents += disputeTook(list.Dispute())
		}
		return list.Err()
	})
	return cents, err
}

// disputeTook is what a dispute took, or will.
func disputeTook(one *stripe.Dispute) int64 {
	switch one.Status {
	case stripe.DisputeStatusNeedsResponse, stripe.DisputeStatusUnderReview, stripe.DisputeStatusLost:
		return one.Amount
	}
	return 0
}

// maxReversals bounds what one question about reversals reads.
const maxReversals = 1000

// Reversals lists refunds and disputes by their time.
func (s *Stripe) Reversals(ctx context.Context, since time.Time) ([]Reversal, error) {
	found := map[string]*Reversal{}
	add := func(charge *stripe.Charge, intent *stripe.PaymentIntent, refunded, disputed int64) {
		if charge == nil || intent == nil {
			return
		}
		if found[charge.ID] == nil {
			found[charge.ID] = &Reversal{Charge: charge.ID, Payment: intent.ID}
		}
		found[charge.ID].Refunded += refunded
		found[charge.ID].Disputed += disputed
	}
	from := &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix()}
	err := s.try(ctx, "list refunds", func(ctx context.Context) error {
		clear(found)
		params := &stripe.RefundListParams{CreatedRange: from}
		params.Context, params.Limit = ctx, stripe.Int64(100)
		list := s.refunds.List(params)
		for read := 0; read < maxReversals && list.Next(); read++ {
			if one := list.Refund(); one.Status != stripe.RefundStatusFailed && one.Status != stripe.RefundStatusCanceled {
				add(one.Charge, one.PaymentIntent, one.Amount, 0)
			}
		}
		return list.Err()
	})
	if err != nil {
		return nil, err
	}
	var disputes []*stripe.Dispute
	err = s.try(ctx, "list disputes", func(ctx context.Context) error {
		disputes = nil
		params := &stripe.DisputeListParams{CreatedRange: from}
		params.Context, params.Limit = ctx, stripe.Int64(100)
		list := s.disputes.List(params)
		for len(disputes) < maxReversals && list.Next() {
			disputes = append(disputes, list.Dispute())
		}
		return list.Err()
	})
	for _, one := range disputes {
		add(one.Charge, one.PaymentIntent, 0, disputeTook(one))
	}
	out := make([]Reversal, 0, len(found))
	for _, one := range found {
		out = append(out, *one)
	}
	return out, err
}
