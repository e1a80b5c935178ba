package quota

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// entries keeps the rows of the ledger. Its statements are written by hand, since
// they are sums over the tenants.
type entries struct{ db *store.DB }

// bought tells whether the item was paid for within the window.
func (e entries) bought(ctx context.Context, tx *store.Tx, r request) (bool, error) {
	var found int
	err := one(ctx, tx, &found, "SELECT COUNT(*) FROM quota_entries "+
		"WHERE plugin = $1 AND quota = $2 AND ends_at > $3 AND item = $4 AND units > 0",
		r.Plugin, r.Name, r.now.UnixMilli(), r.item)
	return found > 0, err
}

// tenants sums up what each asked and got in this window and the one before.
func (e entries) tenants(ctx context.Context, tx *store.Tx, r request) (map[int64]tenant, error) {
	rows, err := tx.Query(ctx, "SELECT account_id, "+
		"CAST(SUM(CASE WHEN ends_at > $3 THEN units ELSE 0 END) AS BIGINT), "+
		"CAST(SUM(CASE WHEN ends_at > $3 THEN 0 ELSE asked END) AS BIGINT), MAX(asked_at) "+
		"FROM quota_entries WHERE plugin = $1 AND quota = $2 AND ends_at > $4 GROUP BY account_id",
		r.Plugin, r.Name, r.now.UnixMilli(), r.since.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("sum up quota: %w", err)
	}
	defer rows.Close()
	tenants := map[int64]tenant{}
	for rows.Next() {
		var account, last int64
		var t tenant
		if err := rows.Scan(&account, &t.used, &t.asked, &last); err != nil {
			return nil, fmt.Errorf("sum up quota: %w", err)
		}
		t.last = time.UnixMilli(last)
		tenants[account] = t
	}
	return tenants, rows.Err()
}

// add writes down a request and what was granted of it. Only what was bought names
// its item.
func (e entries) add(ctx context.Context, tx *store.Tx, r request, granted int64) error {
	item := r.item
	if granted == 0 {
		item = ""
	}
	_, err := tx.Exec(ctx, "INSERT INTO quota_entries (id, plugin, quota, account_id, item, units, asked, asked_at, ends_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "+
		"ON CONFLICT (plugin, quota, ends_at, account_id, item) DO UPDATE SET "+
		"units = quota_entries.units + excluded.units, asked = quota_entries.asked + excluded.asked, asked_at = excluded.asked_at",
		e.db.NewID(), r.Plugin, r.Name, r.account, item, granted, r.units, r.now.UnixMilli(), r.ends(r.Window, item).UnixMilli())
	if err != nil {
		return fmt.Errorf("write quota entry: %w", err)
	}
	return nil
}

// freed is when so many of the units that count now stop counting; for 0, when
// the first entry of any kind ends.
func (e entries) freed(ctx context.Context, tx *store.Tx, r request, units int64) (time.Time, error) {
	rows, err := tx.Query(ctx, "SELECT ends_at, CAST(SUM(units) AS BIGINT) FROM quota_entries "+
		"WHERE plugin = $1 AND quota = $2 AND ends_at > $3 GROUP BY ends_at ORDER BY ends_at",
		r.Plugin, r.Name, r.now.UnixMilli())
	if err != nil {
		return time.Time{}, fmt.Errorf("read quota entries: %w", err)
	}
	defer rows.Close()
	at := r.end
	for rows.Next() {
		var ends, sum int64
		if err := rows.Scan(&ends, &sum); err != nil {
			return time.Time{}, fmt.Errorf("read quota entries: %w", err)
		}
		at, units = time.UnixMilli(ends), units-sum
		if units <= 0 {
			break
		}
	}
	return at, rows.Err()
}

// sweep removes at most limit entries that ended before.
func (e entries) sweep(ctx context.Context, before time.Time, limit int) (removed int64, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		result, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM quota_entries WHERE id IN "+
			"(SELECT id FROM quota_entries WHERE ends_at < $1 ORDER BY ends_at, id LIMIT %d)", limit), before.UnixMilli())
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old quota entries: %w", err)
	}
	return removed, nil
}

// one scans the single row of a query.
func one(ctx context.Context, tx *store.Tx, into any, query string, args ...any) (err error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.Next() {
		return errors.Join(sql.ErrNoRows, rows.Err())
	}
	return rows.Scan(into)
}
