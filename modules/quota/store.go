package quota

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/quotaentry"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// entries stores the rows of the ledger.
type entries struct{ db *store.DB }

// rows are read in a transaction; outside of any for nil.
func (e entries) rows(tx *store.Tx) *ent.Client {
	if tx == nil {
		return e.db.Ent()
	}
	return tx.Ent()
}

// of selects an allowance's entries that end after a moment.
func of(a Allowance, after time.Time) predicate.QuotaEntry {
	return quotaentry.And(quotaentry.Plugin(a.Plugin), quotaentry.Quota(a.Name), quotaentry.EndsAtGT(after.UnixMilli()))
}

// bought reports whether the item was paid for within the window.
func (e entries) bought(ctx context.Context, tx *store.Tx, r request) (bool, error) {
	return tx.Ent().QuotaEntry.Query().Where(of(r.Allowance, r.now), quotaentry.Item(r.item), quotaentry.UnitsGT(0)).Exist(ctx)
}

// tenants sums up what each account asked and got in this window and the one before.
func (e entries) tenants(ctx context.Context, tx *store.Tx, r request) (map[int64]tenant, error) {
	var sums []struct {
		Account int64 `sql:"account_id"`
		Used    int64 `sql:"used"`
		Asked   int64 `sql:"asked_before"`
		Last    int64 `sql:"last_asked"`
	}
	sum := func(now, before, as string) ent.AggregateFunc {
		return func(s *sql.Selector) string {
			text := fmt.Sprintf("CAST(SUM(CASE WHEN %s > %d THEN %s ELSE %s END) AS BIGINT)", s.C(quotaentry.FieldEndsAt), r.now.UnixMilli(), now, before)
			return sql.As(text, as)
		}
	}
	err := e.rows(tx).QuotaEntry.Query().Where(of(r.Allowance, r.since)).GroupBy(quotaentry.FieldAccountID).Aggregate(
		sum("units", "0", "used"), sum("0", "asked", "asked_before"), ent.As(ent.Max(quotaentry.FieldAskedAt), "last_asked"),
	).Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("sum up quota: %w", err)
	}
	tenants := make(map[int64]tenant, len(sums))
	for _, s := range sums {
		tenants[s.Account] = tenant{used: s.Used, asked: s.Asked, last: time.UnixMilli(s.Last)}
	}
	return tenants, nil
}

// add stores a request and what was granted of it. Only a bought item has its name.
func (e entries) add(ctx context.Context, tx *store.Tx, r request, granted int64) error {
	item := r.item
	if granted == 0 {
		item = ""
	}
	now := r.now.UnixMilli()
	err := tx.Ent().QuotaEntry.Create().SetID(e.db.NewID()).SetPlugin(r.Plugin).SetQuota(r.Name).SetAccountID(r.account).SetItem(item).
		SetUnits(granted).SetAsked(r.units).SetAskedAt(now).SetEndsAt(r.ends(r.Window, item).UnixMilli()).
		OnConflict(
			sql.ConflictColumns(quotaentry.FieldPlugin, quotaentry.FieldQuota, quotaentry.FieldEndsAt, quotaentry.FieldAccountID, quotaentry.FieldItem),
			sql.ResolveWith(func(u *sql.UpdateSet) {
				u.Add(quotaentry.FieldUnits, granted).Add(quotaentry.FieldAsked, r.units).Set(quotaentry.FieldAskedAt, now)
			}),
		).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write quota entry: %w", err)
	}
	return nil
}

// take lowers what the account was granted in the present window, never below zero.
func (e entries) take(ctx context.Context, tx *store.Tx, r request) error {
	_, err := tx.Ent().QuotaEntry.Update().Where(
		of(r.Allowance, r.now), quotaentry.EndsAt(r.ends(r.Window, "").UnixMilli()), quotaentry.AccountID(r.account), quotaentry.Item(""), quotaentry.UnitsGTE(r.units),
	).AddUnits(-r.units).Save(ctx)
	if err != nil {
		return fmt.Errorf("lower quota entry: %w", err)
	}
	return nil
}

// freed returns when so many of the units that count now stop counting; for 0,
// when the first entry of any kind ends.
func (e entries) freed(ctx context.Context, tx *store.Tx, r request, units int64) (time.Time, error) {
	var sums []struct {
		EndsAt int64 `sql:"ends_at"`
		Units  int64 `sql:"sum"`
	}
	err := e.rows(tx).QuotaEntry.Query().Where(of(r.Allowance, r.now)).Order(quotaentry.ByEndsAt()).
		GroupBy(quotaentry.FieldEndsAt).Aggregate(ent.Sum(quotaentry.FieldUnits)).Scan(ctx, &sums)
	if err != nil {
		return time.Time{}, fmt.Errorf("read quota entries: %w", err)
	}
	at := r.end
	for _, s := range sums {
		at, units = time.UnixMilli(s.EndsAt), units-s.Units
		if units <= 0 {
			break
		}
	}
	return at, nil
}

// sweep removes at most limit entries that ended before a moment.
func (e entries) sweep(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().QuotaEntry.Query().Where(quotaentry.EndsAtLT(before.UnixMilli())).
			Order(quotaentry.ByEndsAt(), quotaentry.ByID()).Limit(limit).IDs(ctx)
		if removed = 0; err != nil || len(ids) == 0 {
			return err
		}
		removed, err = tx.Ent().QuotaEntry.Delete().Where(quotaentry.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old quota entries: %w", err)
	}
	return removed, nil
}
