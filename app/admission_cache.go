package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/gather"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/usage"
)

const (
	// maxAdmitted bounds the rows that a process keeps, and the accounts whose counters it
	// keeps.
	maxAdmitted = 10_000
	// keepFor is the longest that a row is kept on PostgreSQL: a change by another process
	// is seen by then even where no notification comes.
	keepFor = time.Second
	// nearBudget is how many units an account must have left for its counters to be kept
	// on PostgreSQL: more than it can spend by other processes while they are, at the rate
	// that is the default (50 calls at once, 10 a second, 10 units at most each). Larger
	// charges, as those of scrolls, are told at once, see migration 20.
	nearBudget = 1000
)

// admittedRows keeps the rows of admission's statement.
//
// On SQLite it keeps them until the file changes, by whichever process: so a key that was
// revoked and a library that has changed are seen by the very next call.
//
// On PostgreSQL it keeps them for at most a second, and forgets those of an account as
// soon as the database says that its keys, subscription or workspace have changed: at
// once where this process has changed them, see [store.DB.OnAccess]. The counters are
// raised with each event that this process stores. The library's revision is not kept.
type admittedRows struct {
	db        *store.DB
	revisions *gather.Lookups[int64, int64]

	mu sync.Mutex
	// version is that of the SQLite file; on PostgreSQL it changes whenever rows are
	// forgotten, so that what was read before is not kept after.
	version  int64
	day      int // the counters are of this day
	since    time.Time
	rows     map[string]admitted
	hashes   map[int64][]string
	counters map[int64]usage.Spent
}

// newAdmittedRows returns none. On PostgreSQL it follows the changes until the database is
// closed.
func newAdmittedRows(db *store.DB, pending *usage.Pending) *admittedRows {
	a := &admittedRows{db: db}
	if db.Dialect() == store.SQLite {
		return a
	}
	revisions := db.HotTenantless(`SELECT {owner}, revision FROM libraries WHERE {owner} = ANY($1::bigint[])`,
		"callers of several tenants ask at once, and each gets that of its own")
	a.revisions = gather.New(func(ctx context.Context, accounts []int64) (map[int64]int64, error) {
		found := make(map[int64]int64, len(accounts))
		err := revisions.Each(ctx, func(row store.Row) (bool, error) {
			found[number(row[0])] = number(row[1])
			return true, nil
		}, accounts)
		if err != nil {
			return nil, fmt.Errorf("read library revisions: %w", err)
		}
		return found, nil
	})
	pending.Follow(usage.Follower{Counted: a.raise, Changed: a.forget})
	db.OnAccess(a.forget)
	return a
}

// get returns the row of a hash as it is in the database now, or on PostgreSQL as it was
// within the last second. Else it returns the version to keep it by.
func (a *admittedRows) get(ctx context.Context, hash []byte, now time.Time) (row admitted, known bool, version int64, err error) {
	version, ok, err := a.db.Version(ctx)
	if err != nil {
		return row, false, 0, err
	}
	day := usage.Day(now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !ok {
		version = a.version
		if age := now.Sub(a.since); age <= -keepFor || age >= keepFor || a.day != day || len(a.counters) >= maxAdmitted {
			version++
		}
	}
	if a.rows == nil || a.version != version || a.day != day || len(a.rows) >= maxAdmitted {
		a.version, a.day, a.since = version, day, now
		a.rows, a.hashes, a.counters = map[string]admitted{}, map[int64][]string{}, map[int64]usage.Spent{}
	}
	if row, known = a.rows[string(hash)]; known && !ok {
		row.spent = a.spent(row.account, row.spent)
		account := row.account
		row.at.Revision = func(ctx context.Context, answer int64) (int64, error) { return a.revision(ctx, account, answer) }
	}
	return row, known, version, nil
}

// revision reads the revision of an account's library. Where the call has its answer and an
// event, one statement reads it and, where the answer is current, stores the event.
func (a *admittedRows) revision(ctx context.Context, account, answer int64) (int64, error) {
	if answer != viewer.NoAnswer {
		if now, ok, err := usage.RecordAt(ctx, account, answer); ok {
			return now, err
		}
	}
	return a.revisions.Get(ctx, account)
}

// keep keeps a row that was read after its version was asked for, unless something was
// forgotten meanwhile.
func (a *admittedRows) keep(hash []byte, row admitted, version int64, day int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.version != version || a.day != day {
		return
	}
	if _, known := a.rows[string(hash)]; !known && a.revisions != nil {
		a.hashes[row.account] = append(a.hashes[row.account], string(hash))
	}
	a.rows[string(hash)] = row
}

// forget forgets an account on PostgreSQL.
func (a *admittedRows) forget(account int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	for _, hash := range a.hashes[account] {
		delete(a.rows, hash)
	}
	delete(a.hashes, account)
	delete(a.counters, account)
}

// raise takes the units of a counter that an event of this process was added to. A row
// that was read before has fewer.
func (a *admittedRows) raise(account int64, day int, units int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	spent := a.counters[account]
	switch day {
	case a.day:
		spent.Daily = units
	case a.day - a.day%100:
		spent.Monthly = units
	default:
		return
	}
	if a.rows != nil {
		a.counters[account] = a.spent(account, spent)
	}
}

// spent is the most that is known to be spent: counters only grow, but for changes after
// which the account is forgotten.
func (a *admittedRows) spent(account int64, atLeast usage.Spent) usage.Spent {
	known := a.counters[account]
	return usage.Spent{Daily: max(known.Daily, atLeast.Daily), Monthly: max(known.Monthly, atLeast.Monthly)}
}

// near reports whether a row's account could spend its budget by other processes while
// the row is kept.
func near(row admitted, budget usage.Budget) bool {
	return min(budget.Daily-row.spent.Daily, budget.Monthly-row.spent.Monthly) < nearBudget
}
