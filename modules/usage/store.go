package usage

import (
	"cmp"
	"context"
	"fmt"
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
type rows struct {
	db      *store.DB
	hot     hot
	pending *Pending
}

func newRows(db *store.DB, pending *Pending) rows { return rows{db, newHot(db), pending} }

// at has the rows stored by questions too, see [Config].
func (r rows) at(revisions string) rows {
	if revisions != "" && r.db.Dialect() == store.Postgres {
		r.hot.groupAt, r.hot.aloneAt = questions(r.db, revisions)
	}
	return r
}

// add writes events that have ids, and what they cost, in one transaction on SQLite. It
// leaves out those that are stored already.
func (r rows) add(ctx context.Context, events []event) error {
	return r.db.Apply(ctx, func(run store.Run) error { return r.apply(run, events) })
}

// counter is units to be added to an account's day or month.
type counter struct {
	accountID int64
	day       int
	units     int64
	more      int64 // of events that ask, whose account has one revision that they ask for
}

// countersOf sums what the events cost. The order is the same in every
// transaction, so that two of them never wait for each other.
func countersOf(events []event) []counter {
	var out []counter
	for _, e := range events {
		if e.accountID != 0 && e.units > 0 {
			units, more := e.units, int64(0)
			if e.ask != nil {
				units, more = 0, e.units
			}
			out = append(out, counter{e.accountID, Month(e.at), units, more}, counter{e.accountID, Day(e.at), units, more})
		}
	}
	slices.SortFunc(out, func(a, b counter) int {
		return cmp.Or(cmp.Compare(a.accountID, b.accountID), cmp.Compare(a.day, b.day))
	})
	kept := 0
	for _, c := range out {
		if kept > 0 && out[kept-1].accountID == c.accountID && out[kept-1].day == c.day {
			out[kept-1].units += c.units
			out[kept-1].more += c.more
			continue
		}
		out[kept] = c
		kept++
	}
	return out[:kept]
}

// charge adds units to the month and the day of an account, in the order of countersOf.
func (r rows) charge(ctx context.Context, tx *store.Tx, accountID, units int64, at time.Time) error {
	tx.AfterCommit(func() { r.pending.changed(accountID) })
	ctx = viewer.As(ctx, accountID)
	for _, day := range []int{Month(at), Day(at)} {
		err := tx.Ent().UsageCounter.Create().SetID(r.db.NewID()).SetAccountID(accountID).SetDay(day).SetUnits(units).
			OnConflict(sql.ConflictColumns(usagecounter.FieldAccountID, usagecounter.FieldDay), sql.ResolveWith(func(u *sql.UpdateSet) {
				u.Add(usagecounter.FieldUnits, units)
			})).Exec(ctx)
		if err != nil {
			return fmt.Errorf("add to counter %d: %w", day, err)
		}
	}
	return nil
}

// eventsOf returns the newest events of a key below an id, and the token of the
// next page.
func (r rows) eventsOf(ctx context.Context, pending *Pending, accountID, keyID, before int64, limit int) ([]Event, string, error) {
	recent := pending.of(accountID, keyID, before, limit+1) // before the tables: what is stored meanwhile is in both
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

// spentAt returns what an account has spent on a moment's day and month.
func (r rows) spentAt(ctx context.Context, pending *Pending, accountID int64, at time.Time) (Spent, error) {
	return pending.Read(at, func(mark int64) (Counters, error) {
		found := Counters{AccountID: accountID}
		err := r.hot.spent.Each(ctx, func(row store.Row) (bool, error) {
			found.Spent.Daily, _ = row[0].(int64)
			found.Spent.Monthly, _ = row[1].(int64)
			found.Marked = row[2] != nil
			return false, nil
		}, accountID, Day(at), Month(at), mark)
		if err != nil {
			return found, fmt.Errorf("load counters: %w", err)
		}
		return found, nil
	})
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
