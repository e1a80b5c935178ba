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
func (r *reads) load(ctx context.Context, tx *store.Tx) (*Workspace, error) {
	row, found, err := store.OneIn[struct {
		ID                                int64
		Description, Website, AppStoreURL *string
		Competitors                       string
		SubjectType, SubjectURL           *string
		CanonicalID, Name                 *string
		CreatedAt, UpdatedAt              int64
	}](ctx, tx, r.row)
	if err != nil {
		return nil, fmt.Errorf("load workspace: %w", err)
	}
	if !found {
		return nil, nil
	}
	w := &Workspace{
		ID: row.ID, Description: row.Description, Website: row.Website, AppStoreURL: row.AppStoreURL, Name: row.Name,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, Competitors: []string{},
	}
	if row.SubjectType != nil && row.SubjectURL != nil && row.CanonicalID != nil {
		w.Subject = Subject{Type: weburl.Kind(*row.SubjectType), URL: *row.SubjectURL, CanonicalID: *row.CanonicalID}
	}
	if err := json.Unmarshal([]byte(row.Competitors), &w.Competitors); err != nil {
		return nil, fmt.Errorf("load workspace %d: competitors: %w", w.ID, err)
	}
	return w, nil
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
