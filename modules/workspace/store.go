package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// load returns the viewer's workspace without its rules version, or nil.
func load(ctx context.Context, client *ent.Client) (*Workspace, error) {
	row, err := client.Workspace.Query().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load workspace: %w", err)
	}
	w := &Workspace{
		ID: row.ID, Description: row.Description, Website: row.Website, AppStoreURL: row.AppStoreURL,
		Competitors: []string{}, Name: row.Name, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if row.CanonicalID != nil && row.SubjectType != nil && row.SubjectURL != nil {
		w.Subject = Subject{Type: weburl.Kind(*row.SubjectType), URL: *row.SubjectURL, CanonicalID: *row.CanonicalID}
	}
	if err := json.Unmarshal([]byte(row.Competitors), &w.Competitors); err != nil {
		return nil, fmt.Errorf("load workspace %d: competitors: %w", row.ID, err)
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
func update(ctx context.Context, client *ent.Client, w Workspace) error {
	competitors, err := json.Marshal(w.Competitors)
	if err != nil {
		return fmt.Errorf("update workspace %d: %w", w.ID, err)
	}
	err = client.Workspace.UpdateOneID(w.ID).
		SetNillableDescription(w.Description).SetNillableWebsite(w.Website).SetNillableAppStoreURL(w.AppStoreURL).
		SetNillableName(w.Name).SetCompetitors(string(competitors)).
		SetNillableSubjectType(orNil(string(w.Subject.Type))).SetNillableSubjectURL(orNil(w.Subject.URL)).
		SetNillableCanonicalID(orNil(w.Subject.CanonicalID)).
		SetUpdatedAt(w.UpdatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update workspace %d: %w", w.ID, err)
	}
	return nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
