package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// rows keeps events and counters. Its statements are written by hand, since they
// run with every call of the API.
type rows struct {
	db *store.DB
	// On SQLite, commands write one event, add to the day and the month of a call
	// that are there, open one that is not, and add to one either way.
	event, both, first, counter *store.Command
}

const (
	insertEvents   = "INSERT INTO usage_events (id, account_id, key_id, op, status, cost_cents, ts) "
	insertCounters = "INSERT INTO usage_counters (id, account_id, day, units) "
	addToCounters  = " ON CONFLICT (account_id, day) DO UPDATE SET units = usage_counters.units + excluded.units"
)

func newRows(db *store.DB) rows {
	return rows{
		db: db, event: db.Command(insertEvents + "VALUES (?,?,?,?,?,0,?)"),
		both:    db.Command("UPDATE usage_counters SET units = units + ? WHERE account_id = ? AND day IN (?,?)"),
		first:   db.Command(insertCounters + "VALUES (?,?,?,?) ON CONFLICT (account_id, day) DO NOTHING"),
		counter: db.Command(insertCounters + "VALUES (?,?,?,?)" + addToCounters),
	}
}

// add writes events and what they cost in one transaction.
func (r rows) add(ctx context.Context, events []event) error {
	if r.db.Dialect() == store.SQLite {
		return r.db.Apply(ctx, func(run store.Run) error { return r.apply(run, events) })
	}
	counters := countersOf(events)
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := r.insertArrays(ctx, tx, events); err != nil {
			return fmt.Errorf("insert events: %w", err)
		}
		return r.count(ctx, tx, counters)
	})
}

func (r rows) apply(run store.Run, events []event) error {
	for _, e := range events {
		_, err := run(r.event, r.db.NewID(), orNull(e.accountID), orNull(e.keyID), e.op, e.status, e.at.UnixMilli())
		if err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	counters := countersOf(events)
	if len(counters) == 2 && counters[0].accountID == counters[1].accountID && counters[0].units == counters[1].units {
		changed, err := run(r.both, counters[0].units, counters[0].accountID, counters[0].day, counters[1].day)
		if err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
		if changed == 2 {
			return nil
		}
		for _, c := range counters { // one that is there has its units already
			if _, err := run(r.first, r.db.NewID(), c.accountID, c.day, c.units); err != nil {
				return fmt.Errorf("open counter: %w", err)
			}
		}
		return nil
	}
	for _, c := range counters {
		if _, err := run(r.counter, r.db.NewID(), c.accountID, int64(c.day), c.units); err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
	}
	return nil
}

// insertArrays sends columns, so that the statement's text never changes and
// PostgreSQL plans it once a connection.
func (r rows) insertArrays(ctx context.Context, tx *store.Tx, events []event) error {
	ids, accounts, keys := make([]int64, len(events)), make([]*int64, len(events)), make([]*int64, len(events))
	ops, statuses, times := make([]string, len(events)), make([]string, len(events)), make([]int64, len(events))
	for i, e := range events {
		ids[i], ops[i], statuses[i], times[i] = r.db.NewID(), e.op, e.status, e.at.UnixMilli()
		if e.accountID != 0 {
			accounts[i] = &e.accountID
		}
		if e.keyID != 0 {
			keys[i] = &e.keyID
		}
	}
	_, err := tx.Exec(ctx, insertEvents+"SELECT e.id, e.account_id, e.key_id, e.op, e.status, 0, e.ts FROM "+
		"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) "+
		"AS e (id, account_id, key_id, op, status, ts)", ids, accounts, keys, ops, statuses, times)
	return err
}

// counter is units to be added to an account's day or month.
type counter struct {
	accountID int64
	day       int
	units     int64
}

// countersOf sums what the events cost. The order is the same in every
// transaction, so that two of them never wait for each other.
func countersOf(events []event) []counter {
	var out []counter
	for _, e := range events {
		if e.accountID != 0 && e.units > 0 {
			out = append(out, countersFor(e.accountID, e.units, e.at)...)
		}
	}
	slices.SortFunc(out, func(a, b counter) int {
		return cmp.Or(cmp.Compare(a.accountID, b.accountID), cmp.Compare(a.day, b.day))
	})
	kept := 0
	for _, c := range out {
		if kept > 0 && out[kept-1].accountID == c.accountID && out[kept-1].day == c.day {
			out[kept-1].units += c.units
			continue
		}
		out[kept] = c
		kept++
	}
	return out[:kept]
}

func countersFor(accountID, units int64, at time.Time) []counter {
	return []counter{{accountID, Month(at), units}, {accountID, Day(at), units}}
}

// count adds to counters, at most one row for each account and day.
func (r rows) count(ctx context.Context, tx *store.Tx, counters []counter) error {
	if err := r.upsert(ctx, tx, counters); err != nil {
		return fmt.Errorf("add to counters: %w", err)
	}
	return nil
}

func (r rows) upsert(ctx context.Context, tx *store.Tx, counters []counter) error {
	if r.db.Dialect() == store.Postgres {
		ids, accounts := make([]int64, len(counters)), make([]int64, len(counters))
		days, units := make([]int64, len(counters)), make([]int64, len(counters))
		for i, c := range counters {
			ids[i], accounts[i], days[i], units[i] = r.db.NewID(), c.accountID, int64(c.day), c.units
		}
		_, err := tx.Exec(ctx, insertCounters+"SELECT c.id, c.account_id, c.day, c.units FROM "+
			"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (id, account_id, day, units)"+
			addToCounters, ids, accounts, days, units)
		return err
	}
	args := make([]any, 0, 4*len(counters))
	for _, c := range counters {
		args = append(args, r.db.NewID(), c.accountID, c.day, c.units)
	}
	_, err := tx.Exec(ctx, insertCounters+"VALUES "+tuples("(?,?,?,?)", len(counters))+addToCounters, args...)
	return err
}

func tuples(one string, count int) string {
	return strings.Repeat(one+",", count-1) + one
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// sweep removes at most limit events with an id below one.
func (r rows) sweep(ctx context.Context, below int64, limit int) (removed int64, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		result, err := tx.Exec(ctx, fmt.Sprintf(
			"DELETE FROM usage_events WHERE id IN (SELECT id FROM usage_events WHERE id < $1 ORDER BY id LIMIT %d)", limit,
		), below)
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old usage events: %w", err)
	}
	return removed, nil
}
