package billing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Keys opens accounts and mints their keys; the module keys answers it.
type Keys interface {
	// Open makes a new account, even for an address that has one: no one has
	// proved that the payer reads that mail.
	Open(ctx context.Context, tx *store.Tx, email *string) (accountID int64, err error)
	// Unbroken reports whether a full lasting key of the account, minted by that
	// moment, is still in force.
	Unbroken(ctx context.Context, tx *store.Tx, accountID int64, since time.Time) (bool, error)
	// Mint makes a key with every scope. The secret is shown once.
	Mint(ctx context.Context, tx *store.Tx, accountID int64) (secret string, err error)
}

// Credits keeps the ledger; the module credits answers it. The same reference moves
// credits once.
type Credits interface {
	Add(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error
	// TakeBack takes down to zero; what is lacking is owed.
	TakeBack(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error
	Balance(ctx context.Context, accountID int64) (credits int64, err error)
}

// tokenPrefix begins every claim token.
const tokenPrefix = "claim_"

// KeepEnded is how long an unpaid checkout is remembered after its end.
const KeepEnded = 30 * 24 * time.Hour

// KeepEvents is how long an applied event is remembered: providers send one
// again for days, by hand for a month.
const KeepEvents = 90 * 24 * time.Hour

// Service sells subscriptions and credits.
type Service struct {
	Updates *Updates

	db            *store.DB
	cfg           Config
	checkouts     checkouts
	keys          Keys
	credits       Credits
	provider      Provider
	remote        Remote // nil if the provider is none
	subscriptions *Subscriptions
	log           *slog.Logger
	now           func() time.Time
}

// Updates learn from the provider what became of checkouts, payments and subscriptions.
type Updates struct {
	sales         *Service
	db            *store.DB
	cfg           Config
	checkouts     checkouts
	remote        Remote // nil if the provider is none
	events        events
	subscriptions *Subscriptions
	log           *slog.Logger
}

// New returns the service.
func New(db *store.DB, cfg Config, keys Keys, credits Credits, provider Provider, subscriptions *Subscriptions, log *slog.Logger) *Service {
	remote, _ := provider.(Remote)
	s := &Service{
		remote: remote, db: db, cfg: cfg, checkouts: checkouts{db}, keys: keys, credits: credits, provider: provider,
		subscriptions: subscriptions, log: log, now: time.Now,
	}
	s.Updates = &Updates{
		sales: s, db: db, cfg: cfg, checkouts: s.checkouts, remote: remote, events: events{db},
		subscriptions: subscriptions, log: log,
	}
	return s
}

// Subscribe starts a checkout. The holder of the token may claim the key once it
// is paid; the address alone gives nothing away.
//
// A caller with a lasting key of every scope subscribes for the key's account.
// Any other caller gets a new one with the claim: a lesser key must not turn
// into a full one by paying.
func (s *Service) Subscribe(ctx context.Context, planKey, interval string) (url, token string, err error) {
	plan, ok := s.cfg.Plan(planKey)
	if !ok {
		return "", "", apierr.Invalid("plan", "must be standard or pro")
	}
	if interval != Monthly && interval != Annual {
		return "", "", apierr.Invalid("billingInterval", "must be monthly or annual")
	}
	order := Order{Purpose: purposeSubscription, Plan: plan.Key, Interval: interval, AmountCents: plan.Cents(interval)}
	account := payingAccount(ctx)
	if account != 0 {
		old, err := s.subscriptions.Of(ctx, account)
		if err != nil {
			return "", "", err
		}
		if old.renewing() {
			order.Replaces = old.External
		}
	}
	return s.sell(ctx, order, account)
}

// sell opens a checkout with the provider, and keeps it. token is empty for a
// top-up, which is not claimed but confirmed.
func (s *Service) sell(ctx context.Context, order Order, account int64) (url, token string, err error) {
	id, now := s.db.NewID(), s.now()
	order.Reference, order.ExpiresAt = strconv.FormatInt(id, 10), now.Add(s.cfg.CheckoutTTL)
	session, url, err := s.provider.Create(ctx, order)
	if err != nil {
		return "", "", upstream(err)
	}
	var secretHash []byte
	if order.Purpose != purposeTopup {
		token = tokenPrefix + secret.New()
		secretHash = hash(token)
	}
	if err := s.checkouts.open(ctx, id, order, session, url, secretHash, account, now); err != nil {
		return "", "", err
	}
	return url, token, nil
}

// payingAccount is the account that a checkout is for, 0 for a new one.
func payingAccount(ctx context.Context) int64 {
	caller := viewer.Known(ctx)
	if caller == nil || caller.AccountID == 0 || caller.Session {
		return 0
	}
	for _, scope := range viewer.AllScopes() {
		if !caller.Has(scope) {
			return 0
		}
	}
	return caller.AccountID
}

// Sweep forgets checkouts that ended unpaid long ago, and events that no one
// will send again.
func (s *Service) Sweep(ctx context.Context) error {
	const batch = 500
	for before, sweep := range map[time.Time]func(context.Context, time.Time, int) (int, error){
		s.now().Add(-KeepEnded):  s.checkouts.sweep,
		s.now().Add(-KeepEvents): s.Updates.events.sweep,
	} {
		for removed := batch; removed == batch; {
			var err error
			if removed, err = sweep(ctx, before, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// hash is what is stored of a claim token.
func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// upstream is the answer to a provider that failed: nothing has happened yet.
func upstream(err error) error {
	return &apierr.Error{
		Kind:      apierr.TemporaryServiceError,
		Message:   "The payment service does not answer; try again.",
		Retryable: true,
		Cause:     fmt.Errorf("payment provider: %w", err),
	}
}
