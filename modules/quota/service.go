package quota

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Allowance is one quota of one plugin.
type Allowance struct {
	Plugin, Name string
	// Limit in units a window, at least 1.
	Limit  int64
	Window Window
}

// Answer is whether units may be spent.
type Answer struct {
	Granted bool
	// RetryAt is when a refused request is worth repeating; zero if it never is,
	// as it asks for more than the whole limit.
	RetryAt time.Time
}

// Status is how much of an allowance is used.
type Status struct {
	Allowance
	Used int64
	// Tenants asked for it in this window or the one before.
	Tenants int
	// RenewsAt is when something is available again that is not now: the end of the
	// day, or when the oldest spending of a week falls out. Zero if nothing is used.
	RenewsAt time.Time
}

// Service keeps the ledger.
type Service struct {
	db      *store.DB
	entries entries
	pacific *time.Location
	now     func() time.Time
}

// New returns the ledger kept in db.
func New(db *store.DB) (*Service, error) {
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	return &Service{db: db, entries: entries{db}, pacific: pacific, now: time.Now}, nil
}

var (
	errUnits    = errors.New("ask for at least one unit, of a limit of at least one")
	errNoViewer = errors.New("no viewer in the context: a share is a tenant's")
)

// Spend asks for units on behalf of the context's tenant. With an item, the same
// item asked for again within the window, by any tenant, is granted for nothing.
func (s *Service) Spend(ctx context.Context, a Allowance, units int64, item string) (Answer, error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok {
		return Answer{}, fmt.Errorf("spend %s of %s: %w", a.Name, a.Plugin, errNoViewer)
	}
	if units < 1 || a.Limit < 1 {
		return Answer{}, fmt.Errorf("spend %d %s of %s: %w", units, a.Name, a.Plugin, errUnits)
	}
	var answer Answer
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if err := tx.Lock(ctx, "quota/"+a.Plugin+"/"+a.Name, 0); err != nil {
			return err
		}
		// Read once the lock is held: who waited long may be in another window.
		p, err := a.Window.at(s.now(), s.pacific)
		if err != nil {
			return err
		}
		answer, err = s.spend(ctx, tx, request{Allowance: a, period: p, account: account, units: units, item: item})
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("spend %d %s of %s: %w", units, a.Name, a.Plugin, err)
	}
	return answer, nil
}

// GiveBack takes units off what the context's tenant was granted at or after a time, since they
// were not used after all. It does nothing once the day of that time has ended: they no longer
// count then, and another day's must not lose them.
func (s *Service) GiveBack(ctx context.Context, a Allowance, units int64, since time.Time) error {
	account, _, ok := viewer.Tenant(ctx)
	if !ok {
		return fmt.Errorf("give back %s of %s: %w", a.Name, a.Plugin, errNoViewer)
	}
	if units < 1 || a.Window == Week {
		return fmt.Errorf("give back %d %s of %s: %w", units, a.Name, a.Plugin, errUnits)
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "quota/"+a.Plugin+"/"+a.Name, 0); err != nil {
			return err
		}
		p, err := a.Window.at(s.now(), s.pacific)
		if err != nil {
			return err
		}
		began, err := a.Window.at(since, s.pacific)
		if err != nil || !began.end.Equal(p.end) {
			return err
		}
		return s.entries.take(ctx, tx, request{Allowance: a, period: p, account: account, units: units})
	})
	if err != nil {
		return fmt.Errorf("give back %d %s of %s: %w", units, a.Name, a.Plugin, err)
	}
	return nil
}

// request is one request, at one moment.
type request struct {
	Allowance
	period
	account int64
	units   int64
	item    string
}

// spend decides, and writes down what was asked and what was granted.
func (s *Service) spend(ctx context.Context, tx *store.Tx, r request) (Answer, error) {
	if r.item != "" {
		if bought, err := s.entries.bought(ctx, tx, r); err != nil || bought {
			return Answer{Granted: bought}, err
		}
	}
	tenants, err := s.entries.tenants(ctx, tx, r)
	if err != nil {
		return Answer{}, err
	}
	reason := r.decide(tenants)
	if reason == granted {
		return Answer{Granted: true}, s.entries.add(ctx, tx, r, r.units)
	}
	if err := s.entries.add(ctx, tx, r, 0); err != nil {
		return Answer{}, err
	}
	at, err := s.retryAt(ctx, tx, r, reason, tenants)
	return Answer{RetryAt: at}, err
}

// retryAt is when a refused request may fare better.
func (s *Service) retryAt(ctx context.Context, tx *store.Tx, r request, why decision, tenants map[int64]tenant) (time.Time, error) {
	switch {
	case why == never:
		return time.Time{}, nil
	case r.Window == Week && why == usedUp:
		return s.entries.freed(ctx, tx, r, r.units-(r.Limit-used(tenants)))
	case r.Window == Week:
		return s.entries.freed(ctx, tx, r, 0)
	case why == claimed:
		return r.free, nil
	}
	return r.end, nil
}

// Status tells how much of an allowance is used now.
func (s *Service) Status(ctx context.Context, a Allowance) (Status, error) {
	p, err := a.Window.at(s.now(), s.pacific)
	if err != nil {
		return Status{}, err
	}
	status := Status{Allowance: a}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		r := request{Allowance: a, period: p}
		tenants, err := s.entries.tenants(ctx, tx, r)
		if err != nil {
			return err
		}
		status.Used, status.Tenants = used(tenants), len(tenants)
		if status.Used > 0 {
			status.RenewsAt, err = s.entries.freed(ctx, tx, r, 1)
		}
		return err
	})
	if err != nil {
		return Status{}, fmt.Errorf("status of quota %s of %s: %w", a.Name, a.Plugin, err)
	}
	return status, nil
}

// Left is what of an allowance the context's tenant would be granted now, and when it
// would be granted units in all: zero if that is now, and never where units are more
// than the limit. It spends nothing and asks for nothing.
func (s *Service) Left(ctx context.Context, a Allowance, units int64) (left int64, answer Answer, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok {
		return 0, Answer{}, fmt.Errorf("what is left of %s of %s: %w", a.Name, a.Plugin, errNoViewer)
	}
	p, err := a.Window.at(s.now(), s.pacific)
	if err != nil {
		return 0, Answer{}, err
	}
	r := request{Allowance: a, period: p, account: account, units: units}
	tenants, err := s.entries.tenants(ctx, nil, r)
	if err != nil {
		return 0, Answer{}, err
	}
	left = r.left(tenants)
	if units <= left {
		return left, Answer{Granted: true}, nil
	}
	answer.RetryAt, err = s.retryAt(ctx, nil, r, r.decide(tenants), tenants)
	return left, answer, err
}

const (
	// Kept is how long an entry stays after it has ended; claims need a week.
	Kept = 30 * 24 * time.Hour
	// swept is how many entries one transaction removes.
	swept = 1000
)

// Sweep removes entries that nothing asks about any more.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		removed, err := s.entries.sweep(ctx, s.now().Add(-Kept), swept)
		if err != nil || removed < swept {
			return err
		}
	}
}
