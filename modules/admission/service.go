package admission

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Keys decides on keys; the module keys answers it.
type Keys interface {
	// Digest returns the hash that is stored of a key. session is true for a session key; ok
	// is false for text that cannot be a key.
	Digest(text string) (hash []byte, session, ok bool)
	// Check returns nil for a key in force at that moment, else the caller's refusal.
	Check(key Key, at time.Time) error
}

// Plans returns what a plan may spend; the module billing answers it.
type Plans interface {
	// Budget returns the units of a day and of a month. The empty plan has some too.
	Budget(plan, own string) (daily, monthly int64)
}

// Usage counts what accounts spend; the module usage answers it.
type Usage interface {
	// Counters returns the numbers under which a moment's day and month are counted.
	Counters(at time.Time) (day, month int)
	// Unstored returns the units of this process's calls that these counters may not have
	// yet. Added to counters that are read afterwards, they are at least what is spent.
	Unstored(accountID int64, at time.Time) (daily, monthly int64)
	// Wait returns how long the tenant of the context has to wait until it can spend, 0 while
	// both budgets have units left.
	Wait(ctx context.Context, daily, monthly int64) (time.Duration, error)
}

// Key is what the database has of a key. Times are Unix milliseconds, nil if the column is
// null.
type Key struct {
	// Session is known from the key's text, of a missing row too.
	Session bool
	// Found is false if no row has the hash.
	Found                bool
	ExpiresAt, RevokedAt *int64
	// ParentFound, ParentExpiresAt and ParentRevokedAt concern the lasting key of a session
	// key.
	ParentFound                      bool
	ParentExpiresAt, ParentRevokedAt *int64
}

// Service admits calls. It implements api.Admitter.
type Service struct {
	rows  rows
	kept  *kept
	keys  Keys
	plans Plans
	usage Usage
	now   func() time.Time
}

// New returns the service, which follows the changes of accounts until the database is
// closed.
func New(db *store.DB, keys Keys, plans Plans, usage Usage) (*Service, error) {
	kept, err := newKept()
	if err != nil {
		return nil, fmt.Errorf("keep callers: %w", err)
	}
	db.OnNotify(kept.forget)
	return &Service{rows: newRows(db), kept: kept, keys: keys, plans: plans, usage: usage, now: time.Now}, nil
}

// Admit implements api.Admitter.
func (s *Service) Admit(ctx context.Context, text string) (*api.Caller, error) {
	now := s.now()
	hash, session, ok := s.keys.Digest(text)
	if !ok {
		return nil, s.keys.Check(Key{}, now)
	}
	found, err := s.kept.get(hash, func() (caller, error) { return s.rows.caller(ctx, hash) })
	if err != nil {
		return nil, fmt.Errorf("look up a key: %w", err)
	}
	found.key.Session = session
	if err := s.keys.Check(found.key, now); err != nil {
		return nil, err
	}
	if found.blocked {
		return nil, apierr.New(apierr.Forbidden, "The account is blocked. Write to the operator of this service.")
	}
	who, at := found.viewer, found.at
	who.Session, who.AtAdmission = session, &at
	wait, err := s.wait(viewer.NewContext(ctx, &who), now)
	if err != nil {
		return nil, fmt.Errorf("look up a budget: %w", err)
	}
	return &api.Caller{Viewer: &who, BudgetWait: wait}, nil
}

// wait returns how long the viewer has to wait until it can spend, and sets the revision of
// its library. Units that are about to be stored may count twice: so usage is asked, which
// knows exactly, before a call is refused.
func (s *Service) wait(ctx context.Context, now time.Time) (time.Duration, error) {
	who := viewer.FromContext(ctx)
	daily, monthly := s.usage.Unstored(who.AccountID, now) // before the counters are read
	day, month := s.usage.Counters(now)
	state, err := s.rows.state(ctx, day, month)
	if err != nil {
		return 0, err
	}
	who.AtAdmission.LibraryRevision = state.revision
	dailyBudget, monthlyBudget := s.plans.Budget(who.Plan, who.Limits)
	if state.daily+daily < dailyBudget && state.monthly+monthly < monthlyBudget {
		return 0, nil
	}
	return s.usage.Wait(ctx, dailyBudget, monthlyBudget)
}
