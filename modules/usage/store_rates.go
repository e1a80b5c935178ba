package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	sharedRates = "a rate is spent before the account is known, or by an address"
	// clock is the server's, in microseconds; it stands still within a statement.
	clock = "CAST(EXTRACT(epoch FROM statement_timestamp()) * 1000000 AS bigint)"
	// leaseTimeout bounds one statement; then the process goes by its own count.
	leaseTimeout = time.Second
	// forgetRates is after how long unused rows are removed. By then they are full.
	forgetRates = time.Hour
)

// Rates shares request rates between processes by rows of PostgreSQL. It implements
// limit.Leases.
type Rates struct {
	db                   *store.DB
	lease, minute, sweep *store.Hot
}

// NewRates returns nil on SQLite, where one process has all rates in memory.
func NewRates(db *store.DB) *Rates {
	if db.Dialect() != store.Postgres {
		return nil
	}
	// spent_until is the time at which the allowance is full again; $2 is the time in
	// which one call's worth of it grows, $3 the most calls at once, $4 the most to grant.
	grant := func(spent string) string {
		return "LEAST($4::bigint, ($3::bigint * $2::bigint - GREATEST(" + spent + " - " + clock + ", 0)) / $2::bigint)"
	}
	of := grant("rates.spent_until")
	kept := "ARRAY(SELECT t FROM unnest(rates.times) AS t WHERE t > " + clock + " - 60000000 ORDER BY t)"
	return &Rates{
		db: db,
		lease: db.HotTenantless("INSERT INTO rates (id, spent_until, granted) VALUES ($1::text, "+clock+" + $2::bigint * "+grant("0")+", "+grant("0")+`)
			ON CONFLICT (id) DO UPDATE SET granted = GREATEST(`+of+`, 0), spent_until = GREATEST(rates.spent_until, `+clock+`) + $2::bigint * GREATEST(`+of+`, 0)
			RETURNING granted, spent_until - `+clock+` AS spent`, sharedRates),
		minute: db.HotTenantless("INSERT INTO rates (id, spent_until, times, granted) VALUES ($1::text, "+clock+" + 60000000, ARRAY["+clock+`], 1)
			ON CONFLICT (id) DO UPDATE SET spent_until = `+clock+` + 60000000,
			granted = CASE WHEN cardinality(`+kept+`) < $2::bigint THEN 1 ELSE 0 END,
			times = CASE WHEN cardinality(`+kept+") < $2::bigint THEN "+kept+" || "+clock+" ELSE "+kept+` END
			RETURNING granted, $2::bigint - cardinality(times) AS remaining, times[1] + 60000000 - `+clock+` AS wait`, sharedRates),
		sweep: db.HotTenantless("DELETE FROM rates WHERE spent_until < "+clock+" - $1::bigint", sharedRates),
	}
}

// Lease implements limit.Leases.
func (r *Rates) Lease(ctx context.Context, subject string, each time.Duration, burst, most int) (limit.Lease, error) {
	row, err := oneRate[struct {
		Granted int
		Spent   int64
	}](ctx, r.lease, subject, each.Microseconds(), int64(burst), int64(most))
	return limit.Lease{Granted: row.Granted, Spent: time.Duration(row.Spent) * time.Microsecond}, err
}

// Minute implements limit.Leases.
func (r *Rates) Minute(ctx context.Context, subject string, quota int) (left int, wait time.Duration, err error) {
	row, err := oneRate[struct {
		Granted, Remaining int
		Wait               int64
	}](ctx, r.minute, subject, int64(quota))
	if err == nil && row.Granted != 1 {
		wait = max(time.Duration(row.Wait)*time.Microsecond, time.Millisecond)
	}
	return row.Remaining, wait, err
}

// oneRate runs a statement that returns one row, in a transaction of its own.
func oneRate[T any](ctx context.Context, statement *store.Hot, args ...any) (T, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	row, _, err := store.One[T](ctx, statement, args...)
	if err != nil {
		return row, fmt.Errorf("lease of a rate: %w", err)
	}
	return row, nil
}

// Sweep removes rows that are full again.
func (r *Rates) Sweep(ctx context.Context) error {
	err := r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := r.sweep.ExecIn(ctx, tx, forgetRates.Microseconds())
		return err
	})
	if err != nil {
		return fmt.Errorf("remove unused rates: %w", err)
	}
	return nil
}
