package billing

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// apply takes a event of the provider. A event is only a reason to ask: what
// it says is never believed, so events may come twice, late, in any order, or
// not at all. One that was applied before asks nothing. After an error, nothing
// has changed, and the provider has to send the event again.
func (s *Updates) apply(ctx context.Context, event Event) error {
	if s.remote == nil {
		return fmt.Errorf("event %s: no provider sends events here", event.ID)
	}
	ctx = audit.As(viewer.System(ctx), audit.Payment)
	if done, err := s.events.known(ctx, event.ID); err != nil || done {
		return err
	}
	change, err := s.learn(ctx, event)
	if err != nil {
		return fmt.Errorf("event %s (%s): %w", event.ID, event.Kind, err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		first, err := s.events.record(ctx, tx, event, s.sales.now())
		if err != nil || !first || change == nil {
			return err
		}
		return change(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("apply event %s (%s): %w", event.ID, event.Kind, err)
	}
	return nil
}

// change is what follows from an answer of the provider.
type change func(ctx context.Context, tx *store.Tx) error

// learn asks the provider what a event is about. No transaction is open.
func (s *Updates) learn(ctx context.Context, event Event) (change, error) {
	switch {
	case event.Session != "":
		found, ok, err := s.checkouts.bySession(ctx, event.Session)
		if err != nil || !ok {
			return nil, err
		}
		return s.learnCheckout(ctx, found)
	case event.Subscription != "":
		return s.learnSubscription(ctx, event.Subscription)
	case event.Charge != "":
		return s.learnReversal(ctx, event.Charge)
	}
	return nil, nil
}

// learnCheckout asks the state of a checkout. A paid top-up is credited; what
// has a claim token waits for it.
func (s *Updates) learnCheckout(ctx context.Context, found checkout) (change, error) {
	if found.state != Open && found.state != Paid {
		return nil, nil
	}
	payment, err := s.sales.provider.State(ctx, found.session)
	if err != nil {
		return nil, upstream(err)
	}
	return func(ctx context.Context, tx *store.Tx) error {
		if payment.State == Paid && found.purpose == purposeTopup {
			_, err := s.sales.topUpIn(ctx, tx, found, payment)
			return err
		}
		return s.checkouts.mark(ctx, tx, found.id, payment, s.sales.now())
	}, nil
}

// learnSubscription asks the state of a subscription. That the answer is newer
// than what is known is seen by when the question was asked.
func (s *Updates) learnSubscription(ctx context.Context, id string) (change, error) {
	asked := s.db.NewID()
	state, ok, err := s.remote.Subscription(ctx, id)
	if err != nil {
		return nil, upstream(err)
	}
	if !ok {
		s.strange(ctx, id)
		return nil, nil
	}
	return func(ctx context.Context, tx *store.Tx) error {
		_, err := s.subscriptions.follow(ctx, tx, state, asked)
		return err
	}, nil
}

// strange warns of a subscription that the provider never heard of. It stays as
// it is: providers forget none, so the key is another account's, and to end what
// customers pay for would be wrong.
func (s *Updates) strange(ctx context.Context, subscription string) {
	s.log.WarnContext(ctx, "the payment provider does not know a subscription: is it another account's key?", "subscription", subscription)
}

// learnReversal asks how much of a charge was given back. Charges that bought
// no credits concern no one here: a subscription's end has an event of its own.
func (s *Updates) learnReversal(ctx context.Context, charge string) (change, error) {
	reversal, err := s.remote.Reversal(ctx, charge)
	if err != nil {
		return nil, upstream(err)
	}
	if reversal.Payment == "" {
		return nil, nil
	}
	found, ok, err := s.checkouts.byPayment(ctx, reversal.Payment)
	if err == nil && !ok {
		var session string
		if session, err = s.remote.SessionOf(ctx, reversal.Payment); err != nil {
			return nil, upstream(err)
		}
		found, ok, err = s.checkouts.bySession(ctx, session)
	}
	if err != nil || !ok || found.purpose == purposeSubscription {
		return nil, err
	}
	return func(ctx context.Context, tx *store.Tx) error {
		if err := s.checkouts.reverse(ctx, tx, found.id, reversal); err != nil {
			return err
		}
		current, err := s.checkouts.byID(ctx, tx.Ent(), found.id)
		switch {
		case err != nil:
			return err
		case current.state == Claimed:
			return s.sales.takeBack(ctx, tx, current)
		case current.undone() == current.amountCents: // nothing is left to claim
			return s.checkouts.mark(ctx, tx, found.id, Payment{State: Cancelled}, s.sales.now())
		}
		return nil
	}, nil
}
