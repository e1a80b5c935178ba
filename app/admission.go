package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/keys/form"
	"github.com/scrollery/scrollery/modules/usage"
)

// admissionQuery reads everything that admission needs at once. It is the only join
// across modules: five reads for each call would cost more than the call. Lists use
// the subject and the revision that it returns. The same through Ent takes 13 times the
// CPU time (BenchmarkAdmission).
const admissionColumns = `SELECT k.id, {owner:k}, k.scopes, k.expires_at, k.revoked_at, p.id, p.expires_at, p.revoked_at,
	s.plan, s."interval", s.status, d.units, m.units, w.id, w.canonical_id, l.revision`

// admissionMark tells which events the counters include: see usage.Pending.
const admissionMark = `, (SELECT 1 FROM usage_events WHERE id = $4)`

const admissionTables = `
	FROM keys k
	LEFT JOIN keys p ON p.id = k.parent_id
	LEFT JOIN subscriptions s ON {owner:s} = {owner:k}
	LEFT JOIN usage_counters d ON {owner:d} = {owner:k} AND d.day = $2
	LEFT JOIN usage_counters m ON {owner:m} = {owner:k} AND m.day = $3
	LEFT JOIN workspaces w ON {owner:w} = {owner:k}
	LEFT JOIN libraries l ON {owner:l} = {owner:k}
	WHERE k.hash = $1`

// admission looks up the account of a key and its remaining budget.
type admission struct {
	find    *store.Hot
	pending *usage.Pending
	marks   bool // the statement has admissionMark
	rows    *admittedRows
	plans   billing.Config
	now     func() time.Time
}

func newAdmission(db *store.DB, pending *usage.Pending, plans billing.Config) *admission {
	query, marks := admissionColumns+admissionTables, db.Dialect() == store.SQLite
	if marks {
		query = admissionColumns + admissionMark + admissionTables
	}
	find := db.HotTenantless(query, "the tenant is known by its result")
	return &admission{find: find, pending: pending, marks: marks, rows: newAdmittedRows(db, pending), plans: plans, now: time.Now}
}

// Admit implements api.Admitter.
func (a *admission) Admit(ctx context.Context, secret string) (*api.Caller, error) {
	hash, session, ok := form.Digest(secret)
	if !ok {
		return nil, keys.Refused()
	}
	now := a.now()
	row, err := a.lookUp(ctx, hash, now)
	if err != nil {
		return nil, fmt.Errorf("look up a key: %w", err)
	}
	row.state.Session = session
	if err := row.state.Check(now); err != nil {
		return nil, err
	}
	return row.caller(now, a.plans), nil
}

// lookUp returns the row of a key, with the units of all events until now.
func (a *admission) lookUp(ctx context.Context, hash []byte, now time.Time) (row admitted, err error) {
	row.spent, err = a.pending.Read(now, func(mark int64) (usage.Counters, error) {
		var err error
		row, err = a.inTables(ctx, hash, now, mark)
		return usage.Counters{AccountID: row.account, Spent: row.spent, Marked: row.marked}, err
	})
	return row, err
}

// inTables returns the row of a key as the tables have it.
func (a *admission) inTables(ctx context.Context, hash []byte, now time.Time, mark int64) (admitted, error) {
	day := usage.Day(now)
	var row admitted
	var version int64
	// While events are stored, whether the counters have them is known of one read alone.
	keep := mark == 0
	if keep {
		var err error
		var known bool
		if row, known, version, err = a.rows.get(ctx, hash, now); err != nil || known && (a.marks || !near(row, budgetOf(a.plans, row.plan))) {
			return row, err
		}
		row = admitted{}
	}
	args := []any{hash, day, usage.Month(now), mark}
	if !a.marks {
		args = args[:3]
	}
	if err := a.find.Each(ctx, row.read, args...); err != nil {
		return row, err
	}
	if keep && row.state.Found {
		a.rows.keep(hash, row, version, day)
	}
	return row, nil
}

// admitted is a row of admission's statement.
type admitted struct {
	state                  keys.State
	key, account           int64
	scopes                 string
	plan, interval, status string
	spent                  usage.Spent
	marked                 bool
	at                     viewer.AtAdmission
}

// read copies the row; absent values stay zero.
func (r *admitted) read(row store.Row) (more bool, err error) {
	r.key, r.account, r.scopes = number(row[0]), number(row[1]), text(row[2])
	r.state.Found, r.state.ParentFound = true, row[5] != nil
	r.state.ExpiresAt, r.state.RevokedAt = optional(row[3]), optional(row[4])
	r.state.ParentExpiresAt, r.state.ParentRevokedAt = optional(row[6]), optional(row[7])
	r.plan, r.interval, r.status = text(row[8]), text(row[9]), text(row[10])
	r.spent = usage.Spent{Daily: number(row[11]), Monthly: number(row[12])}
	r.at = viewer.AtAdmission{Workspace: row[13] != nil, Subject: text(row[14]), LibraryRevision: number(row[15])}
	r.marked = len(row) > 16 && row[16] != nil
	return false, nil
}

func (r *admitted) caller(now time.Time, plans billing.Config) *api.Caller {
	who := &viewer.Viewer{
		AccountID: r.account, KeyID: r.key, Scopes: strings.Fields(r.scopes), Session: r.state.Session,
		Plan: r.plan, Interval: r.interval, Status: cmp.Or(r.status, "none"), AtAdmission: &r.at,
	}
	return &api.Caller{Viewer: who, BudgetWait: budgetOf(plans, who.Plan).Wait(r.spent, now)}
}

func budgetOf(plans billing.Config, plan string) usage.Budget {
	daily, monthly := plans.Budget(plan)
	return usage.Budget{Daily: daily, Monthly: monthly}
}

func number(value any) int64 { n, _ := value.(int64); return n }
func text(value any) string  { s, _ := value.(string); return s }

func optional(value any) *int64 {
	if n, is := value.(int64); is {
		return &n
	}
	return nil
}
