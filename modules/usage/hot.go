package usage

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// hot are the statements that run at every call of the API. BenchmarkHot measures
// groups of events against the same rows by Ent, commit included, on 2 cores: on
// SQLite 1.6 times as fast for one event and 2.3 for 64, on PostgreSQL 1.4 and 2.6.
type hot struct {
	// On SQLite: one event, both counters of a call where they exist, the opening of
	// a missing counter, and one counter either way.
	event, both, first, counter *store.Hot
	// On PostgreSQL: columns of any length, so that the text never changes and each
	// connection plans it once.
	events, counters *store.Hot
	// On both, within a write: one event, units of one counter, and another status of
	// an event.
	one, add, amend *store.Hot
}

const (
	manyTenants    = "one transaction writes the events of several accounts"
	insertEvents   = "INSERT INTO usage_events (id, {owner}, key_id, op, status, cost_cents, ts) "
	insertCounters = "INSERT INTO usage_counters (id, {owner}, day, units) "
	addToCounters  = " ON CONFLICT ({owner}, day) DO UPDATE SET units = usage_counters.units + excluded.units"
)

func newHot(db *store.DB) (h hot) {
	h.one = db.HotTenantless(insertEvents+"VALUES ($1, $2, $3, $4, $5, 0, $6)", manyTenants)
	h.add = db.HotTenantless(insertCounters+"VALUES ($1, $2, $3, $4)"+addToCounters, manyTenants)
	h.amend = db.HotTenantless("UPDATE usage_events SET status = $2 WHERE id = $1", manyTenants)
	if db.Dialect() == store.Postgres {
		h.events = db.HotTenantless(insertEvents+"SELECT e.id, e.account, e.key_id, e.op, e.status, 0, e.ts FROM "+
			"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) "+
			"AS e (id, account, key_id, op, status, ts)", manyTenants)
		h.counters = db.HotTenantless(insertCounters+"SELECT c.id, c.account, c.day, c.units FROM "+
			"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (id, account, day, units)"+addToCounters, manyTenants)
		return h
	}
	h.event = db.HotTenantless(insertEvents+"VALUES ($1, $2, $3, $4, $5, 0, $6)", manyTenants)
	h.both = db.HotTenantless("UPDATE usage_counters SET units = units + $1 WHERE {owner} = $2 AND day IN ($3, $4)", manyTenants)
	h.first = db.HotTenantless(insertCounters+"VALUES ($1, $2, $3, $4) ON CONFLICT ({owner}, day) DO NOTHING", manyTenants)
	h.counter = db.HotTenantless(insertCounters+"VALUES ($1, $2, $3, $4)"+addToCounters, manyTenants)
	return h
}

// apply writes a group on SQLite.
func (r rows) apply(run store.Run, events []event) error {
	for _, e := range events {
		_, err := run(r.hot.event, r.db.NewID(), orNull(e.accountID), orNull(e.keyID), e.op, e.status, e.at.UnixMilli())
		if err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	counters := countersOf(events)
	if len(counters) == 2 && counters[0].accountID == counters[1].accountID && counters[0].units == counters[1].units {
		changed, err := run(r.hot.both, counters[0].units, counters[0].accountID, counters[0].day, counters[1].day)
		if err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
		if changed == 2 {
			return nil
		}
		for _, c := range counters { // one that exists has its units already
			if _, err := run(r.hot.first, r.db.NewID(), c.accountID, c.day, c.units); err != nil {
				return fmt.Errorf("open counter: %w", err)
			}
		}
		return nil
	}
	for _, c := range counters {
		if _, err := run(r.hot.counter, r.db.NewID(), c.accountID, c.day, c.units); err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
	}
	return nil
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// insertColumns writes a group on PostgreSQL.
func (r rows) insertColumns(ctx context.Context, tx *store.Tx, events []event) error {
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
	if _, err := r.hot.events.ExecIn(ctx, tx, ids, accounts, keys, ops, statuses, times); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	counters := countersOf(events)
	ids, owners := make([]int64, len(counters)), make([]int64, len(counters))
	days, units := make([]int64, len(counters)), make([]int64, len(counters))
	for i, c := range counters {
		ids[i], owners[i], days[i], units[i] = r.db.NewID(), c.accountID, int64(c.day), c.units
	}
	if _, err := r.hot.counters.ExecIn(ctx, tx, ids, owners, days, units); err != nil {
		return fmt.Errorf("add to counters: %w", err)
	}
	return nil
}
