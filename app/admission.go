package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/door"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/modules/viewer"
)

// admissionQuery finds everything that admits a call in one read. It is the one
// join across rooms: three reads a request would cost more than the request.
const admissionQuery = `SELECT k.id, k.account_id, k.scopes, k.expires_at, k.revoked_at, p.id, p.expires_at, p.revoked_at,
	s.plan, s."interval", s.status, d.units, m.units
	FROM keys k
	LEFT JOIN keys p ON p.id = k.parent_id
	LEFT JOIN subscriptions s ON s.account_id = k.account_id
	LEFT JOIN usage_counters d ON d.account_id = k.account_id AND d.day = $2
	LEFT JOIN usage_counters m ON m.account_id = k.account_id AND m.day = $3
	WHERE k.hash = $1`

// admission answers the door: who is behind a key, and has he budget left.
type admission struct {
	find  *store.Statement
	plans billing.Config
	now   func() time.Time
}

func newAdmission(db *store.DB, plans billing.Config) *admission {
	return &admission{find: db.PrepareSystem(admissionQuery), plans: plans, now: time.Now}
}

// Admit implements door.Admitter.
func (a *admission) Admit(ctx context.Context, secret string) (*door.Caller, error) {
	hash, session, ok := keys.Digest(secret)
	if !ok {
		return nil, keys.Refused()
	}
	now := a.now()
	rows, err := a.find.Query(ctx, hash, usage.Day(now), usage.Month(now))
	if err != nil {
		return nil, fmt.Errorf("look up a key: %w", err)
	}
	defer rows.Close()
	row := admitted{standing: keys.Standing{Session: session}}
	if rows.Next() {
		if err := row.scan(rows.Scan); err != nil {
			return nil, fmt.Errorf("read a key: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look up a key: %w", err)
	}
	if err := row.standing.Check(now); err != nil {
		return nil, err
	}
	return row.caller(now, a.plans), nil
}

// admitted is a row of admissionQuery.
type admitted struct {
	standing               keys.Standing
	key, account           int64
	scopes                 string
	plan, interval, status *string
	day, month             *int64
}

func (r *admitted) scan(scan func(...any) error) error {
	var parent *int64
	err := scan(&r.key, &r.account, &r.scopes, &r.standing.ExpiresAt, &r.standing.RevokedAt,
		&parent, &r.standing.ParentExpiresAt, &r.standing.ParentRevokedAt,
		&r.plan, &r.interval, &r.status, &r.day, &r.month)
	r.standing.Found, r.standing.ParentFound = true, parent != nil
	return err
}

func (r *admitted) caller(now time.Time, plans billing.Config) *door.Caller {
	who := &viewer.Viewer{
		AccountID: r.account, KeyID: r.key, Scopes: strings.Fields(r.scopes), Session: r.standing.Session,
		Plan: or(r.plan, ""), Interval: or(r.interval, ""), Status: or(r.status, "none"),
	}
	daily, monthly := plans.Budget(who.Plan)
	budget := usage.Budget{Daily: daily, Monthly: monthly}
	return &door.Caller{Viewer: who, BudgetWait: budget.Wait(usage.Spent{Daily: or(r.day, 0), Monthly: or(r.month, 0)}, now)}
}

func or[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
