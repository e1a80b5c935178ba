package usage

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/usagecounter"
	"github.com/scrollery/scrollery/ent/usageevent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// rows stores events and counters.
type rows struct{ db *store.DB }

// insert stores events that have ids, and adds what they cost to the counters.
func (r rows) insert(ctx context.Context, tx *store.Tx, events []event) error {
	ctx = viewer.System(ctx) // they belong to several accounts
	for part := range batches(events) {
		creates := make([]*ent.UsageEventCreate, len(part))
		for i, e := range part {
			creates[i] = tx.Ent().UsageEvent.Create().SetID(e.id).SetOp(e.op).SetStatus(e.status).SetCostCents(0).SetTs(e.at.UnixMilli())
			if e.accountID != 0 {
				creates[i].SetAccountID(e.accountID)
			}
			if e.keyID != 0 {
				creates[i].SetKeyID(e.keyID)
			}
		}
		if err := tx.Ent().UsageEvent.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("insert events: %w", err)
		}
	}
	return r.count(ctx, tx, countersOf(events))
}

// stored reports whether an event is in the table.
func (r rows) stored(ctx context.Context, tx *store.Tx, id int64) (bool, error) {
	return tx.Ent().UsageEvent.Query().Where(usageevent.ID(id)).Exist(ctx)
}

// amend gives a stored event another status, and adds the difference of its units.
func (r rows) amend(ctx context.Context, tx *store.Tx, e event) error {
	if err := tx.Ent().UsageEvent.DeleteOneID(e.id).Exec(ctx); err != nil {
		return fmt.Errorf("replace an event: %w", err)
	}
	return r.insert(ctx, tx, []event{e})
}

// counter is units to be added to an account's day or month.
type counter struct {
	counterKey
	units int64
}

// countersOf sums what the events cost. The order is the same in every
// transaction, so that two of them never wait for each other.
func countersOf(events []event) []counter {
	var out []counter
	for _, e := range events {
		if e.accountID != 0 && e.units != 0 {
			out = append(out, counter{counterKey{e.accountID, Month(e.at)}, e.units}, counter{counterKey{e.accountID, Day(e.at)}, e.units})
		}
	}
	slices.SortFunc(out, func(a, b counter) int {
		return cmp.Or(cmp.Compare(a.accountID, b.accountID), cmp.Compare(a.day, b.day))
	})
	kept := 0
	for _, c := range out {
		if kept > 0 && out[kept-1].counterKey == c.counterKey {
			out[kept-1].units += c.units
			continue
		}
		out[kept] = c
		kept++
	}
	return out[:kept]
}

// count adds to counters, in the order of countersOf.
func (r rows) count(ctx context.Context, tx *store.Tx, counters []counter) error {
	for part := range batches(counters) {
		creates := make([]*ent.UsageCounterCreate, len(part))
		for i, c := range part {
			creates[i] = tx.Ent().UsageCounter.Create().SetID(r.db.NewID()).SetAccountID(c.accountID).SetDay(c.day).SetUnits(c.units)
		}
		err := tx.Ent().UsageCounter.CreateBulk(creates...).
			OnConflict(sql.ConflictColumns(usagecounter.FieldAccountID, usagecounter.FieldDay), sql.ResolveWith(func(u *sql.UpdateSet) {
				u.Set(usagecounter.FieldUnits, sql.Expr(usagecounter.Table+".units + excluded.units"))
			})).Exec(ctx)
		if err != nil {
			return fmt.Errorf("add to counters: %w", err)
		}
	}
	return nil
}

// maxBatch is the most rows of one statement.
const maxBatch = 256

// batches cuts rows into parts, each a power of two: the texts of their statements are few,
// so that they can stay prepared.
func batches[T any](all []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n := min(maxBatch, 1<<(bits.Len(uint(len(all)))-1))
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// eventsOf returns the newest events of a key below an id, and the token of the next
// page. recent are those that may not be in the table yet.
func (r rows) eventsOf(ctx context.Context, recent []event, accountID, keyID, before int64, limit int) ([]Event, string, error) {
	found, err := r.db.Ent().UsageEvent.Query().
		Where(usageevent.AccountID(accountID), usageevent.KeyID(keyID), usageevent.IDLT(before)).
		Order(usageevent.ByID(sql.OrderDesc())).Limit(limit + 1).All(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list events: %w", err)
	}
	for _, e := range recent {
		found = append(found, &ent.UsageEvent{ID: e.id, Op: e.op, Status: e.status, Ts: e.at.UnixMilli()})
	}
	slices.SortFunc(found, func(a, b *ent.UsageEvent) int { return cmp.Compare(b.ID, a.ID) })
	found = slices.CompactFunc(found, func(a, b *ent.UsageEvent) bool { return a.ID == b.ID })
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = token(found[limit-1].ID)
	}
	events := make([]Event, len(found))
	for i, row := range found {
		events[i] = Event{Op: row.Op, Status: row.Status, CostCents: row.CostCents, At: row.Ts}
	}
	return events, next, nil
}

// spentAt returns what the tables have of an account's spending on a moment's day and month.
func (r rows) spentAt(ctx context.Context, accountID int64, at time.Time) (spent Spent, err error) {
	found, err := r.db.Ent().UsageCounter.Query().
		Where(usagecounter.AccountID(accountID), usagecounter.DayIn(Day(at), Month(at))).All(ctx)
	if err != nil {
		return Spent{}, fmt.Errorf("load counters: %w", err)
	}
	for _, c := range found {
		if c.Day == Month(at) {
			spent.Monthly = c.Units
		} else {
			spent.Daily = c.Units
		}
	}
	return spent, nil
}

// sweep removes at most limit events with an id below one.
func (r rows) sweep(ctx context.Context, below int64, limit int) (removed int, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().UsageEvent.Query().Where(usageevent.IDLT(below)).Order(usageevent.ByID()).Limit(limit).IDs(ctx)
		if removed = 0; err != nil || len(ids) == 0 {
			return err
		}
		removed, err = tx.Ent().UsageEvent.Delete().Where(usageevent.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old usage events: %w", err)
	}
	return removed, nil
}

// AccountDay is what an account spent in a day.
type AccountDay struct{ AccountID, Units int64 }

// Busiest returns at most limit accounts, those that spent most in the day of a time first.
func (s *Service) Busiest(ctx context.Context, at time.Time, limit int) ([]AccountDay, error) {
	found, err := s.rows.db.Ent().UsageCounter.Query().Where(usagecounter.Day(Day(at))).
		Order(ent.Desc(usagecounter.FieldUnits), ent.Asc(usagecounter.FieldAccountID)).Limit(limit).
		Select(usagecounter.FieldAccountID, usagecounter.FieldUnits).All(viewer.System(ctx))
	all := make([]AccountDay, 0, len(found))
	for _, row := range found {
		all = append(all, AccountDay{row.AccountID, row.Units})
	}
	return all, err
}
