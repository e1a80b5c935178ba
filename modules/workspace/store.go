package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// reads are the module's hot reads.
type reads struct{ row, id, subject *store.Hot }

func newReads(db *store.DB) reads {
	return reads{
		row: db.Hot(`SELECT id, description, website, app_store_url, competitors, subject_type, subject_url, canonical_id, name,
created_at, updated_at FROM workspaces WHERE {tenant}`),
		id:      db.Hot(`SELECT id FROM workspaces WHERE {tenant}`),
		subject: db.Hot(`SELECT canonical_id FROM workspaces WHERE {tenant}`),
	}
}

// load returns the viewer's workspace without its rules version, or nil; with tx nil
// outside of transactions.
func (r *reads) load(ctx context.Context, tx *store.Tx) (w *Workspace, err error) {
	each := r.row.Each
	if tx != nil {
		each = func(ctx context.Context, do func(store.Row) (bool, error), args ...any) error {
			return r.row.EachIn(ctx, tx, do, args...)
		}
	}
	competitors := ""
	err = each(ctx, func(row store.Row) (bool, error) {
		w = &Workspace{
			Description: text(row[1]), Website: text(row[2]), AppStoreURL: text(row[3]), Competitors: []string{}, Name: text(row[8]),
		}
		w.ID, _ = row[0].(int64)
		w.CreatedAt, _ = row[9].(int64)
		w.UpdatedAt, _ = row[10].(int64)
		competitors, _ = row[4].(string)
		if kind, url, id := text(row[5]), text(row[6]), text(row[7]); kind != nil && url != nil && id != nil {
			w.Subject = Subject{Type: weburl.Kind(*kind), URL: *url, CanonicalID: *id}
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("load workspace: %w", err)
	}
	if w == nil {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(competitors), &w.Competitors); err != nil {
		return nil, fmt.Errorf("load workspace %d: competitors: %w", w.ID, err)
	}
	return w, nil
}

// text is a column that may be null.
func text(value any) *string {
	s, ok := value.(string)
	if !ok {
		return nil
	}
	return &s
}

func insert(ctx context.Context, client *ent.Client, w Workspace) error {
	account, _, _ := viewer.Tenant(ctx)
	competitors, err := json.Marshal(w.Competitors)
	if err != nil {
		return fmt.Errorf("insert workspace: %w", err)
	}
	err = client.Workspace.Create().SetID(w.ID).SetAccountID(account).
		SetNillableDescription(w.Description).SetNillableWebsite(w.Website).SetNillableAppStoreURL(w.AppStoreURL).
		SetNillableName(w.Name).SetCompetitors(string(competitors)).
		SetNillableSubjectType(orNil(string(w.Subject.Type))).SetNillableSubjectURL(orNil(w.Subject.URL)).
		SetNillableCanonicalID(orNil(w.Subject.CanonicalID)).
		SetCreatedAt(w.CreatedAt).SetUpdatedAt(w.UpdatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert workspace: %w", err)
	}
	return nil
}

// update writes what a caller may change. No field ever becomes null again.
func update(ctx context.Context, tx *store.Tx, w Workspace) error {
	competitors, err := json.Marshal(w.Competitors)
	if err != nil {
		return fmt.Errorf("update workspace %d: %w", w.ID, err)
	}
	change := tx.Hot(`UPDATE workspaces SET description = COALESCE($2, description), website = COALESCE($3, website),
app_store_url = COALESCE($4, app_store_url), name = COALESCE($5, name), competitors = $6, subject_type = COALESCE($7, subject_type),
subject_url = COALESCE($8, subject_url), canonical_id = COALESCE($9, canonical_id), updated_at = $10 WHERE +{tenant} AND id = $1`)
	changed, err := change.ExecIn(ctx, tx, w.ID, w.Description, w.Website, w.AppStoreURL, w.Name, string(competitors),
		orNil(string(w.Subject.Type)), orNil(w.Subject.URL), orNil(w.Subject.CanonicalID), w.UpdatedAt)
	if err != nil {
		return fmt.Errorf("update workspace %d: %w", w.ID, err)
	}
	if changed != 1 {
		return fmt.Errorf("update workspace %d: changed %d rows", w.ID, changed)
	}
	return nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
