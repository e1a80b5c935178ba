package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/ident"
	"github.com/scrollery/scrollery/modules/store"
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
}

// ClaimSubscription exchanges a paid checkout's token for a key. The first claim
// after payment gets it, however many race; the provider is asked about every
// checkout that is not known to have ended, so a lost notice loses no customer.
func (s *Service) ClaimSubscription(ctx context.Context, token string) (Claim, error) {
	found, ok, err := s.checkouts.byToken(ctx, purposeSubscription, hash(token))
	if err != nil {
		return Claim{}, err
	}
	if !ok {
		return Claim{Status: ClaimInvalidToken}, nil
	}
	state, email := found.state, found.email
	if state == Open {
		if state, email, err = s.ask(ctx, found); err != nil {
			return Claim{}, err
		}
	}
	switch state {
	case Open:
		return Claim{Status: ClaimPending}, nil
	case Paid:
		return s.complete(ctx, found, email)
	case Claimed:
		return taken(found), nil
	default:
		return Claim{Status: ClaimInvalidSession}, nil
	}
}

// ask learns from the provider where an open checkout stands, and keeps what
// ends it. One that was paid in its last moment is paid, whatever the time is.
func (s *Service) ask(ctx context.Context, found checkout) (State, string, error) {
	state, email, err := s.provider.State(ctx, found.session)
	if err != nil {
		return "", "", upstream(err)
	}
	now := s.now()
	if state == Open && !now.Before(found.expiresAt) {
		state = Expired
	}
	if state != Cancelled && state != Expired {
		return state, email, nil
	}
	if _, err := s.checkouts.settle(ctx, found.id, state, "", now); err != nil {
		return "", "", err
	}
	return state, email, nil
}

// complete hands out the key, unless another claim was first.
func (s *Service) complete(ctx context.Context, found checkout, email string) (Claim, error) {
	var claim Claim
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := s.now()
		first, err := s.checkouts.take(ctx, tx, found.id, email, now)
		if err != nil {
			return err
		}
		if !first {
			claim, err = s.late(ctx, tx, found)
			return err
		}
		claim, err = s.deliver(ctx, tx, found, email, now)
		return err
	})
	if err != nil {
		return Claim{}, fmt.Errorf("claim checkout %d: %w", found.id, err)
	}
	return claim, nil
}

// deliver opens what was paid for: the account, unless the checkout was started
// with a key of one, its subscription, and a key.
func (s *Service) deliver(ctx context.Context, tx *store.Tx, found checkout, email string, now time.Time) (Claim, error) {
	account, err := s.account(ctx, tx, found, email)
	if err != nil {
		return Claim{}, err
	}
	if err := s.subscriptions.Activate(ctx, tx, account, found.plan, found.interval, periodEnd(now, found.interval)); err != nil {
		return Claim{}, err
	}
	key, err := s.keys.Mint(ctx, tx, account)
	if err != nil {
		return Claim{}, err
	}
	return Claim{
		Status: ClaimCompleted, APIKey: key,
		AccountID: ident.Format(ident.Account, account), Interval: found.interval,
	}, nil
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
		AccountID: ident.Format(ident.Account, found.accountID), Interval: found.interval,
	}
}
