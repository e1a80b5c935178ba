package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Statuses of a claim.
const (
	ClaimCompleted      = "completed"
	ClaimPending        = "pending"
	ClaimInvalidToken   = "invalid_token"
	ClaimInvalidSession = "invalid_session"
	ClaimAlreadyClaimed = "already_claimed"
)

// Claim is the answer to a claim token. What its status does not use is empty.
type Claim struct {
	Status string
	// APIKey is shown this once.
	APIKey    string
	AccountID string
	Interval  string
	// Credits is the balance, with a completed sign-up.
	Credits int64
}

// ClaimSubscription exchanges a paid checkout's token for a key. The first claim
// after payment gets it, however many race; the provider is asked about every
// checkout that is not known to have ended, so a lost event loses no customer.
func (s *Service) ClaimSubscription(ctx context.Context, token string) (Claim, error) {
	return s.claim(ctx, purposeSubscription, token)
}

// claim exchanges a token of one purpose; those of others do not exist for it.
func (s *Service) claim(ctx context.Context, purpose, token string) (Claim, error) {
	found, ok, err := s.checkouts.byToken(ctx, purpose, hash(token))
	if err != nil {
		return Claim{}, err
	}
	if !ok {
		return Claim{Status: ClaimInvalidToken}, nil
	}
	payment := Payment{State: found.state}
	if found.state == Open || found.state == Paid {
		if payment, err = s.ask(ctx, found); err != nil {
			return Claim{}, err
		}
	}
	switch payment.State {
	case Open, Processing:
		return Claim{Status: ClaimPending}, nil
	case Paid:
		return s.complete(ctx, found, payment)
	case Claimed:
		return taken(found), nil
	default:
		return Claim{Status: ClaimInvalidSession}, nil
	}
}

// ask learns from the provider the state of a checkout, and keeps what ends it.
func (s *Service) ask(ctx context.Context, found checkout) (Payment, error) {
	payment, err := s.provider.State(ctx, found.session)
	if err != nil {
		return Payment{}, upstream(err)
	}
	switch payment.State {
	case Cancelled, Expired:
		_, err = s.checkouts.settle(ctx, found.id, payment.State, "", s.now())
	case Unknown:
		s.log.WarnContext(ctx, "the payment provider does not know a checkout: is its key missing, or another account's?", "checkout", found.id)
	}
	return payment, err
}

// complete hands out the key, unless another claim was first.
func (s *Service) complete(ctx context.Context, found checkout, payment Payment) (Claim, error) {
	var claim Claim
	err := s.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) error {
		now := s.now()
		first, err := s.checkouts.take(ctx, tx, found.id, payment, now)
		if err != nil {
			return err
		}
		if !first {
			claim, err = s.late(ctx, tx, found)
			return err
		}
		claim, err = s.deliver(ctx, tx, found, payment, now)
		return err
	})
	if err != nil {
		return Claim{}, fmt.Errorf("claim checkout %d: %w", found.id, err)
	}
	if claim.Status == ClaimCompleted && found.purpose == purposeSignup {
		account, _ := publicid.Parse(publicid.Account, claim.AccountID)
		claim.Credits, err = s.credits.Balance(ctx, account)
	}
	return claim, err
}

// deliver opens what was paid for: the account, unless the checkout was started
// with a key of one, its subscription or its credits, and a key.
func (s *Service) deliver(ctx context.Context, tx *store.Tx, found checkout, payment Payment, now time.Time) (Claim, error) {
	account, err := s.account(ctx, tx, found, payment.Email)
	if err != nil {
		return Claim{}, err
	}
	if found.purpose == purposeSignup {
		err = s.credit(ctx, tx, found.id, account)
	} else {
		err = s.subscribe(ctx, tx, found, account, payment.Subscription, now)
	}
	if err != nil {
		return Claim{}, err
	}
	key, err := s.keys.Mint(ctx, tx, account)
	if err != nil {
		return Claim{}, err
	}
	return Claim{
		Status: ClaimCompleted, APIKey: key,
		AccountID: publicid.Format(publicid.Account, account), Interval: found.interval,
	}, nil
}

// subscribe gives the account what it subscribed for: as the provider says that
// it stands, or for one interval where the provider renews nothing. An older
// subscription that the new one replaces is ended, so that no one pays twice.
func (s *Service) subscribe(ctx context.Context, tx *store.Tx, found checkout, account int64, state SubscriptionState, now time.Time) error {
	if state.ID == "" {
		return s.subscriptions.Activate(ctx, tx, account, found.plan, found.interval, periodEnd(now, found.interval))
	}
	replaced, err := s.subscriptions.adopt(ctx, tx, account, found.plan, found.interval, state)
	if err != nil || replaced == "" {
		return err
	}
	return tx.Enqueue(ctx, store.Job{Kind: endKind, Args: ending{replaced}, MaxAttempts: jobs.AttemptsOver(endWithin)})
}

// account returns the account that the checkout was started for, or a new one. A
// checkout outlives the key it was started with; were that no bar, a stolen key
// could come back through it after its owner had replaced it.
func (s *Service) account(ctx context.Context, tx *store.Tx, found checkout, email string) (int64, error) {
	if found.accountID != 0 {
		unbroken, err := s.keys.Unbroken(ctx, tx, found.accountID, found.createdAt)
		if err != nil || unbroken {
			return found.accountID, err
		}
	}
	var address *string
	if email != "" {
		address = &email
	}
	account, err := s.keys.Open(ctx, tx, address)
	if err != nil {
		return 0, err
	}
	return account, s.checkouts.bind(ctx, tx, found.id, account)
}

// late answers a claim that was not the first, or whose checkout ended meanwhile.
func (s *Service) late(ctx context.Context, tx *store.Tx, found checkout) (Claim, error) {
	current, ok, err := s.checkouts.bySessionIn(ctx, tx.Ent(), found.session)
	if err != nil {
		return Claim{}, err
	}
	if !ok || current.state != Claimed {
		return Claim{Status: ClaimInvalidSession}, nil
	}
	return taken(current), nil
}

func taken(found checkout) Claim {
	return Claim{
		Status:    ClaimAlreadyClaimed,
		AccountID: publicid.Format(publicid.Account, found.accountID), Interval: found.interval,
	}
}
