package billing

import (
	"context"
	"fmt"
	"strconv"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// What credits can be bought for at once, in US cents.
const (
	MinCents     = 100
	MaxCents     = 1_000_000
	defaultCents = 1000
)

// Topup starts a checkout of credits for the caller's account.
func (s *Service) Topup(ctx context.Context, cents int64) (url string, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return "", apierr.New(apierr.Unauthorized, "A top-up needs a key.")
	}
	if err := allowed(cents); err != nil {
		return "", err
	}
	url, _, err = s.sell(ctx, Order{Purpose: purposeTopup, AmountCents: cents}, account)
	return url, err
}

// Signup starts a checkout that opens a new account with credits. 0 cents stand
// for 10 dollars.
func (s *Service) Signup(ctx context.Context, cents int64) (url, token string, err error) {
	if cents == 0 {
		cents = defaultCents
	}
	if err := allowed(cents); err != nil {
		return "", "", err
	}
	return s.sell(ctx, Order{Purpose: purposeSignup, AmountCents: cents}, 0)
}

// ClaimSignup exchanges a paid sign-up's token for a key, as ClaimSubscription does.
func (s *Service) ClaimSignup(ctx context.Context, token string) (Claim, error) {
	return s.claim(ctx, purposeSignup, token)
}

// ConfirmTopup credits a top-up once it is paid, and says its state and
// what the balance is. A top-up of another account does not exist for the caller.
func (s *Service) ConfirmTopup(ctx context.Context, session string) (status string, balance int64, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return "", 0, apierr.New(apierr.Unauthorized, "A top-up needs a key.")
	}
	found, ok, err := s.checkouts.bySession(ctx, session)
	if err != nil {
		return "", 0, err
	}
	status = ClaimInvalidSession
	if ok && found.purpose == purposeTopup && found.accountID == account {
		if status, err = s.confirm(ctx, found); err != nil {
			return "", 0, err
		}
	}
	balance, err = s.credits.Balance(ctx, account)
	return status, balance, err
}

func (s *Service) confirm(ctx context.Context, found checkout) (status string, err error) {
	payment := Payment{State: found.state}
	if found.state == Open || found.state == Paid {
		if payment, err = s.ask(ctx, found); err != nil {
			return "", err
		}
	}
	switch payment.State {
	case Open, Processing:
		return ClaimPending, nil
	case Claimed:
		return ClaimCompleted, nil
	case Paid:
		return s.topUp(ctx, found, payment)
	}
	return ClaimInvalidSession, nil
}

// topUp hands out the credits, unless that was done before.
func (s *Service) topUp(ctx context.Context, found checkout, payment Payment) (status string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		status, err = s.topUpIn(ctx, tx, found, payment)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("top up by checkout %d: %w", found.id, err)
	}
	return status, nil
}

func (s *Service) topUpIn(ctx context.Context, tx *store.Tx, found checkout, payment Payment) (status string, err error) {
	first, err := s.checkouts.take(ctx, tx, found.id, payment, s.now())
	if err != nil {
		return "", err
	}
	if first {
		return ClaimCompleted, s.credit(ctx, tx, found.id, found.accountID)
	}
	current, _, err := s.checkouts.bySessionIn(ctx, tx.Ent(), found.session)
	if err != nil {
		return "", err
	}
	if current.state != Claimed {
		return ClaimInvalidSession, nil
	}
	return ClaimCompleted, nil
}

// credit adds what a checkout paid for, and takes back at once what was undone
// before it was handed out.
func (s *Service) credit(ctx context.Context, tx *store.Tx, id, account int64) error {
	found, err := s.checkouts.byID(ctx, tx.Ent(), id)
	if err != nil {
		return err
	}
	reference := found.purpose + ":" + strconv.FormatInt(id, 10)
	if err := s.credits.Add(ctx, tx, account, found.amountCents, reference, found.purpose); err != nil {
		return err
	}
	found.accountID = account
	return s.takeBack(ctx, tx, found)
}

// takeBack takes from the account what its payer got back since the last time.
func (s *Service) takeBack(ctx context.Context, tx *store.Tx, found checkout) error {
	undone := found.undone()
	if undone <= found.reversed {
		return nil
	}
	reference := fmt.Sprintf("reversal:%d:%d", found.id, undone)
	if err := s.credits.TakeBack(ctx, tx, found.accountID, undone-found.reversed, reference); err != nil {
		return err
	}
	return s.checkouts.undo(ctx, tx, found.id, undone)
}

func allowed(cents int64) error {
	if cents < MinCents || cents > MaxCents {
		return apierr.Invalid("amountCents", "must be from %d to %d", MinCents, MaxCents)
	}
	return nil
}
