package usage

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Plans returns what each plan may spend; the module billing answers it.
type Plans interface {
	// Budget returns the units of a plan, and something to measure by for the
	// empty one.
	Budget(plan, own string) (daily, monthly int64)
}

// Config is the module's part of the configuration.
type Config struct {
	// KeepEvents is how long events are kept. Default: 90 days; 0: for ever.
	KeepEvents time.Duration `yaml:"keep_events"`
	// GroupSize is the most events that are stored in one transaction. Default: 1024.
	GroupSize int `yaml:"group_size"`
	// CommitTimeout bounds one transaction of events, and how long a call waits if too many
	// events wait for the database. Default: 15 seconds.
	CommitTimeout time.Duration `yaml:"commit_timeout"`
	// Observe, if set, is called with the number of events of each transaction. It must
	// not block.
	Observe func(events int) `yaml:"-"`
}

// Defaults returns the configuration of a local server.
func Defaults() Config {
	return Config{KeepEvents: 90 * 24 * time.Hour, GroupSize: 1024, CommitTimeout: 15 * time.Second}
}

// Validate reports every value out of bounds.
func (c Config) Validate() error {
	var faults []error
	if c.KeepEvents < 0 {
		faults = append(faults, fmt.Errorf("keep events %v: want 0 or more", c.KeepEvents))
	}
	if c.GroupSize < 1 || c.GroupSize > 10000 {
		faults = append(faults, fmt.Errorf("group size %d: want 1 to 10000", c.GroupSize))
	}
	if c.CommitTimeout <= 0 {
		faults = append(faults, fmt.Errorf("commit timeout %v: want more than 0", c.CommitTimeout))
	}
	return errors.Join(faults...)
}

// maxEvents is the longest list of events.
const maxEvents = 100

// Service reports usage.
type Service struct {
	rows     rows
	recorder *Recorder
	cfg      Config
	plans    Plans
	rates    *Rates // nil on SQLite
	now      func() time.Time
}

// New returns the service. Its answers include what waits in the recorder.
func New(db *store.DB, cfg Config, recorder *Recorder, plans Plans) *Service {
	return &Service{rows: rows{db}, recorder: recorder, cfg: cfg, plans: plans, rates: NewRates(db), now: time.Now}
}

// spent returns what an account has spent on a moment's day and month: all that any
// process has stored, and all calls of this one.
func (s *Service) spent(ctx context.Context, accountID int64, at time.Time) (Spent, error) {
	ctx = viewer.As(ctx, accountID)
	return s.recorder.exactly(ctx, accountID, at, func() (Spent, error) { return s.rows.spentAt(ctx, accountID, at) })
}

// Unstored returns what calls of this process have spent that the counters of a moment's day
// and month may not have yet. Added to counters that are read afterwards it is at least what
// is spent.
func (s *Service) Unstored(accountID int64, at time.Time) Spent {
	return s.recorder.spent(accountID, at)
}

// Report is how much of the budgets is used, in whole per cent.
type Report struct {
	Daily, Monthly int
}

// Report returns the caller's.
func (s *Service) Report(ctx context.Context) (Report, error) {
	caller := viewer.FromContext(ctx)
	if caller == nil {
		return Report{}, errors.New("report usage: no viewer in the context")
	}
	spent, err := s.spent(ctx, caller.AccountID, s.now())
	if err != nil {
		return Report{}, err
	}
	daily, monthly := s.plans.Budget(caller.Plan, caller.Limits)
	return Report{Daily: percent(spent.Daily, daily), Monthly: percent(spent.Monthly, monthly)}, nil
}

// Units is a budget, what is left of it, never below 0, and when it is whole again.
type Units struct {
	Budget, Left int64
	RenewsAt     time.Time
}

// Units returns the budgets of the caller.
func (s *Service) Units(ctx context.Context) (daily, monthly Units, err error) {
	caller := viewer.FromContext(ctx)
	if caller == nil {
		return daily, monthly, errors.New("units: no viewer in the context")
	}
	whole := Budget{}
	whole.Daily, whole.Monthly = s.plans.Budget(caller.Plan, caller.Limits)
	left, _, err := s.Left(ctx, whole)
	if err != nil {
		return daily, monthly, err
	}
	day, month := renewals(s.now())
	return Units{whole.Daily, left.Daily, day}, Units{whole.Monthly, left.Monthly, month}, nil
}

// Wait returns how long the tenant of the context has to wait until a budget has
// units again, as [Budget.Wait] does.
func (s *Service) Wait(ctx context.Context, budget Budget) (time.Duration, error) {
	_, wait, err := s.Left(ctx, budget)
	return wait, err
}

// Left returns what the tenant of the context has left of a budget, never below 0, and
// how long it has to wait until it can spend, as Wait does.
func (s *Service) Left(ctx context.Context, budget Budget) (left Budget, wait time.Duration, err error) {
	now := s.now()
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return Budget{}, 0, errors.New("what is left of a budget: no account in the context")
	}
	spent, err := s.spent(ctx, account, now)
	if err != nil {
		return Budget{}, 0, err
	}
	left = Budget{Daily: max(budget.Daily-spent.Daily, 0), Monthly: max(budget.Monthly-spent.Monthly, 0)}
	return left, budget.Wait(spent, now), nil
}

// Event is one recorded call.
type Event struct {
	Op, Status string
	CostCents  int64
	At         int64 // Unix milliseconds
}

// Events returns calls made with the caller's own key, newest first, and the
// token of the page after it, empty at the end.
func (s *Service) Events(ctx context.Context, limit int, pageToken string) ([]Event, string, error) {
	caller := viewer.FromContext(ctx)
	if caller == nil {
		return nil, "", errors.New("list events: no viewer in the context")
	}
	if limit < 1 || limit > maxEvents {
		return nil, "", apierr.Invalid("limit", "must be from 1 to %d", maxEvents)
	}
	before, ok := readToken(pageToken)
	if !ok {
		return nil, "", apierr.Invalid("pageToken", "is not a token of this list")
	}
	// Before the table is read: what is stored meanwhile is in both.
	recent := s.recorder.of(caller.AccountID, caller.KeyID, before, limit+1)
	return s.rows.eventsOf(ctx, recent, caller.AccountID, caller.KeyID, before, limit)
}

// token is where the next page begins. It cannot name another key's events: the
// list is always the caller's.
func token(id int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

// readToken returns the id that a page is below; the highest for no token.
func readToken(text string) (before int64, ok bool) {
	if text == "" {
		return 1<<63 - 1, true
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != 8 {
		return 0, false
	}
	before = int64(binary.BigEndian.Uint64(raw))
	return before, before > 0
}

// Charge adds units to the account's day and month within a transaction, for
// work that no single call pays for. Call it last: it holds the account's
// counters until the transaction ends, and calls of the account wait for them.
func (s *Service) Charge(ctx context.Context, tx *store.Tx, accountID int64, units int) error {
	if units <= 0 {
		return nil
	}
	all := countersOf([]event{{accountID: accountID, units: int64(units), at: s.now()}})
	return s.rows.count(viewer.As(ctx, accountID), tx, all)
}

// Sweep removes events that are older than the configuration keeps them, and rates that
// no caller uses.
func (s *Service) Sweep(ctx context.Context) error {
	if s.rates != nil {
		if err := s.rates.Sweep(ctx); err != nil {
			return err
		}
	}
	if s.cfg.KeepEvents == 0 {
		return nil
	}
	const batch = 1000
	below := publicid.First(s.now().Add(-s.cfg.KeepEvents))
	for {
		removed, err := s.rows.sweep(ctx, below, batch)
		if err != nil || removed < batch {
			return err
		}
	}
}
