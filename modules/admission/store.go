package admission

import (
	"cmp"
	"context"
	"database/sql"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// rows are the statements of admission, which read the tables of several modules: one read
// each would cost more than the call. BenchmarkAdmission compares them with Ent.
type rows struct{ find, now *store.Hot }

func newRows(db *store.DB) rows {
	return rows{
		find: db.HotTenantless(`SELECT k.id, {owner:k} AS account, k.scopes, k.expires_at, k.revoked_at,
	p.id AS parent_id, p.expires_at AS parent_expires_at, p.revoked_at AS parent_revoked_at,
	s.plan, s."interval", s.status, s.limits, w.id AS workspace_id, w.canonical_id AS subject, a.blocked_at
	FROM keys k
	LEFT JOIN accounts a ON a.id = {owner:k}
	LEFT JOIN keys p ON p.id = k.parent_id
	LEFT JOIN subscriptions s ON {owner:s} = {owner:k}
	LEFT JOIN workspaces w ON {owner:w} = {owner:k}
	WHERE k.hash = $1`, "the tenant is known by its result"),
		now: db.Hot(`SELECT (SELECT d.units FROM usage_counters d WHERE {tenant:d} AND d.day = $1) AS daily,
	(SELECT m.units FROM usage_counters m WHERE {tenant:m} AND m.day = $2) AS monthly,
	(SELECT l.revision FROM libraries l WHERE {tenant:l}) AS revision`),
	}
}

// caller is what a key stands for.
type caller struct {
	key Key
	// blocked is for an account that the operator has blocked.
	blocked bool
	viewer  viewer.Viewer
	at      viewer.AtAdmission
	asOf    int64 // the last change before it was read
}

// caller reads the caller of a key. Of an unknown one all is zero.
func (r rows) caller(ctx context.Context, hash []byte) (c caller, err error) {
	row, found, err := store.One[struct {
		ID, Account                                int64
		Scopes                                     string
		ExpiresAt, RevokedAt                       *int64
		ParentID, ParentExpiresAt, ParentRevokedAt *int64
		Plan, Interval, Status, Limits             sql.NullString
		WorkspaceID                                *int64
		Subject                                    sql.NullString
		BlockedAt                                  *int64
	}](ctx, r.find, hash)
	if err != nil || !found {
		return caller{}, err
	}
	c.key = Key{
		Found: true, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt,
		ParentFound: row.ParentID != nil, ParentExpiresAt: row.ParentExpiresAt, ParentRevokedAt: row.ParentRevokedAt,
	}
	c.blocked = row.BlockedAt != nil
	c.viewer = viewer.Viewer{
		KeyID: row.ID, AccountID: row.Account, Scopes: strings.Fields(row.Scopes),
		Plan: row.Plan.String, Interval: row.Interval.String, Limits: row.Limits.String, Status: cmp.Or(row.Status.String, "none"),
	}
	c.at = viewer.AtAdmission{Workspace: row.WorkspaceID != nil, Subject: row.Subject.String}
	return c, nil
}

// state is what may differ at each call: the units of the counters, and the library's revision.
type state struct{ daily, monthly, revision int64 }

// state reads the viewer's.
func (r rows) state(ctx context.Context, day, month int) (state, error) {
	row, _, err := store.One[struct{ Daily, Monthly, Revision sql.NullInt64 }](ctx, r.now, day, month)
	return state{row.Daily.Int64, row.Monthly.Int64, row.Revision.Int64}, err
}
