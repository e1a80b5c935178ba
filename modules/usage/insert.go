package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// questions are the statements of groups with events that ask, and of one that does. The
// account's revision decides whether an event is stored, and is returned as a counter of
// the day 0: all of it as one moment has it.
func questions(db *store.DB, revisions string) (group, alone *store.Hot) {
	now := func(account string) string {
		return "COALESCE((SELECT r.revision FROM " + revisions + " r WHERE {owner:r} = " + account + "), 0)"
	}
	tell := returning + ") SELECT {owner}, day, units FROM counters UNION ALL SELECT {owner}, 0, revision FROM " + revisions
	group = db.HotTenantless("WITH events AS ("+insertEvents+"SELECT e.id, e.account, e.key_id, e.op, e.status, 0, e.ts FROM "+
		"unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $11::bigint[]) "+
		"AS e (id, account, key_id, op, status, ts, revision) WHERE e.revision IS NULL OR e.revision = "+now("e.account")+"), counters AS ("+
		insertCounters+"SELECT c.id, c.account, c.day, c.units FROM (SELECT u.id, u.account, u.day, "+
		"u.units + CASE WHEN u.more > 0 AND u.revision = "+now("u.account")+" THEN u.more ELSE 0 END AS units FROM "+
		"unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $12::bigint[], $13::bigint[]) AS u (id, account, day, units, more, revision)"+
		") c WHERE c.units > 0"+addToCounters+tell+" WHERE {owner} = ANY($14::bigint[])", manyTenants)
	alone = db.HotTenantless("WITH events AS ("+insertEvents+"SELECT $1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, 0, $6::bigint "+
		"WHERE $12::bigint = "+now("$2")+"), counters AS ("+
		insertCounters+"SELECT c.id, $2, c.day, $9::bigint FROM (VALUES ($7::bigint, $8::bigint), ($10::bigint, $11::bigint)) AS c (id, day) "+
		"WHERE $12::bigint = "+now("$2")+addToCounters+tell+" WHERE {owner} = $2", manyTenants)
	return group, alone
}

// insert writes a group and what it costs on PostgreSQL, in one statement, answers its
// questions, and tells the follower what the accounts have spent then.
func (r rows) insert(ctx context.Context, events []event) error {
	all := events
	events, asked := askedOf(events)
	for i := range events {
		events[i].id = r.db.NewID()
	}
	counters := countersOf(events)
	s, args := r.inserting(events, counters, asked)
	if err := r.db.IDs(); err != nil {
		return err
	}
	var spent []counter
	revisions := make(map[int64]int64, len(asked))
	err := s.ExecEach(ctx, func(row store.Row) (bool, error) {
		c := counter{accountID: number(row[0]), day: int(number(row[1])), units: number(row[2])}
		if c.day == 0 {
			revisions[c.accountID] = c.units
		} else {
			spent = append(spent, c)
		}
		return true, nil
	}, args...)
	if err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	r.pending.counted(spent)
	for _, e := range all {
		if e.ask != nil {
			e.ask.now = revisions[e.accountID]
		}
	}
	for _, e := range events {
		if e.ask != nil && e.ask.revision == e.ask.now {
			e.ask.stored = e.id
		}
	}
	return nil
}

func number(value any) int64 { n, _ := value.(int64); return n }

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// inserting returns the statement that writes a group, and its values. asked is the
// revision that events of an account ask for.
func (r rows) inserting(events []event, counters []counter, asked map[int64]int64) (*store.Hot, []any) {
	if len(events) == 1 && len(counters) == 2 {
		e, month, day := events[0], counters[0], counters[1]
		args := []any{
			e.id, e.accountID, orNull(e.keyID), e.op, e.status, e.at.UnixMilli(),
			r.db.NewID(), int64(month.day), e.units, r.db.NewID(), int64(day.day),
		}
		if e.ask == nil {
			return r.hot.alone, args
		}
		return r.hot.aloneAt, append(args, e.ask.revision)
	}
	ids, accounts, keys := make([]int64, len(events)), make([]*int64, len(events)), make([]*int64, len(events))
	ops, statuses, times := make([]string, len(events)), make([]string, len(events)), make([]int64, len(events))
	revisions := make([]*int64, len(events))
	for i, e := range events {
		ids[i], ops[i], statuses[i], times[i] = e.id, e.op, e.status, e.at.UnixMilli()
		accounts[i], keys[i] = orNil(e.accountID), orNil(e.keyID)
		if e.ask != nil {
			revisions[i] = &e.ask.revision
		}
	}
	numbers, owners := make([]int64, len(counters)), make([]int64, len(counters))
	days, units := make([]int64, len(counters)), make([]int64, len(counters))
	more, at := make([]int64, len(counters)), make([]*int64, len(counters))
	for i, c := range counters {
		numbers[i], owners[i], days[i], units[i], more[i] = r.db.NewID(), c.accountID, int64(c.day), c.units, c.more
		if revision, ok := asked[c.accountID]; ok {
			at[i] = &revision
		}
	}
	args := []any{ids, accounts, keys, ops, statuses, times, numbers, owners, days, units}
	if len(asked) == 0 {
		return r.hot.group, args
	}
	return r.hot.groupAt, append(args, revisions, more, at, slices.Sorted(maps.Keys(asked)))
}
