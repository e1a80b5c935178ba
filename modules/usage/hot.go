package usage

import (
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// hot are the statements that run at every call of the API. BenchmarkHot measures
// groups of events against the same rows by Ent, commit included.
type hot struct {
	// On SQLite: one event of the journal, unless it is stored already.
	event *store.Hot
	// On PostgreSQL: events and counters, as columns of any length, so that the text
	// never changes and each connection plans it once; and one event that costs something.
	group, alone *store.Hot
	// The same with the questions of [RecordAt]; nil where there are none.
	groupAt, aloneAt *store.Hot
	// On both: one event, units of one counter, another status of an event, and the
	// counters of an account.
	one, add, amend, spent *store.Hot
}

const (
	manyTenants    = "one transaction writes the events of several accounts"
	insertEvents   = "INSERT INTO usage_events (id, {owner}, key_id, op, status, cost_cents, ts) "
	insertCounters = "INSERT INTO usage_counters (id, {owner}, day, units) "
	addToCounters  = " ON CONFLICT ({owner}, day) DO UPDATE SET units = usage_counters.units + excluded.units"
	returning      = " RETURNING {owner}, day, units"
)

func newHot(db *store.DB) (h hot) {
	h.one = db.HotTenantless(insertEvents+"VALUES ($1, $2, $3, $4, $5, 0, $6)", manyTenants)
	h.add = db.HotTenantless(insertCounters+"VALUES ($1, $2, $3, $4)"+addToCounters, manyTenants)
	h.amend = db.HotTenantless("UPDATE usage_events SET status = $2 WHERE id = $1", manyTenants)
	h.spent = db.HotTenantless("SELECT (SELECT units FROM usage_counters WHERE {owner} = $1 AND day = $2), "+
		"(SELECT units FROM usage_counters WHERE {owner} = $1 AND day = $3), (SELECT 1 FROM usage_events WHERE id = $4)",
		"the mark is an event of any tenant")
	if db.Dialect() == store.Postgres {
		h.group = db.HotTenantless("WITH events AS ("+insertEvents+"SELECT e.id, e.account, e.key_id, e.op, e.status, 0, e.ts FROM "+
			"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) "+
			"AS e (id, account, key_id, op, status, ts)) "+
			insertCounters+"SELECT c.id, c.account, c.day, c.units FROM "+
			"unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) AS c (id, account, day, units)"+addToCounters+returning, manyTenants)
		h.alone = db.HotTenantless("WITH events AS ("+insertEvents+"VALUES ($1, $2, $3, $4, $5, 0, $6)) "+
			insertCounters+"VALUES ($7, $2, $8, $9), ($10, $2, $11, $9)"+addToCounters+returning, manyTenants)
		return h
	}
	h.event = db.HotTenantless(insertEvents+"VALUES ($1, $2, $3, $4, $5, 0, $6) ON CONFLICT (id) DO NOTHING", manyTenants)
	return h
}

// apply writes events on SQLite that are not stored yet.
func (r rows) apply(run store.Run, events []event) error {
	added := make([]event, 0, len(events))
	for _, e := range events {
		n, err := run(r.hot.event, e.id, orNull(e.accountID), orNull(e.keyID), e.op, e.status, e.at.UnixMilli())
		if err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
		if n > 0 {
			added = append(added, e)
		}
	}
	for _, c := range countersOf(added) {
		if _, err := run(r.hot.add, r.db.NewID(), c.accountID, c.day, c.units); err != nil {
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
