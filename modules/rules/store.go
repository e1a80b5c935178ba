package rules

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/ruleitem"
	"github.com/scrollery/scrollery/ent/ruleset"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// latest returns the viewer's ruleset in force without its workspace, or nil.
func latest(ctx context.Context, client *ent.Client) (*Rules, error) {
	row, err := client.Ruleset.Query().Order(ent.Desc(ruleset.FieldVersion)).First(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load rules: %w", err)
	}
	return &Rules{Version: row.Version, Text: row.Text, CreatedAt: row.CreatedAt}, nil
}

func latestVersion(ctx context.Context, client *ent.Client) (int, error) {
	versions, err := client.Ruleset.Query().Order(ent.Desc(ruleset.FieldVersion)).Limit(1).Select(ruleset.FieldVersion).Ints(ctx)
	if err != nil {
		return 0, fmt.Errorf("load rules version: %w", err)
	}
	if len(versions) == 0 {
		return 0, nil
	}
	return versions[0], nil
}

// loadVersions returns rulesets below a version, newest first, without their workspace;
// 0 starts with the newest.
func loadVersions(ctx context.Context, client *ent.Client, before, limit int) ([]Rules, error) {
	query := client.Ruleset.Query().Order(ent.Desc(ruleset.FieldVersion)).Limit(limit)
	if before > 0 {
		query.Where(ruleset.VersionLT(before))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list rules: %w", err)
	}
	out := make([]Rules, len(rows))
	for i, row := range rows {
		out[i] = Rules{Version: row.Version, Text: row.Text, CreatedAt: row.CreatedAt}
	}
	return out, nil
}

// loadItems returns the viewer's items in the order in which they are listed, without
// the archived ones unless they are asked for.
func loadItems(ctx context.Context, client *ent.Client, archived bool) ([]Item, error) {
	if archived {
		return itemsWhere(ctx, client)
	}
	return itemsWhere(ctx, client, ruleitem.Archived(false))
}

// loadBack returns the archived items that have one of the texts.
func loadBack(ctx context.Context, client *ent.Client, texts []string) ([]Item, error) {
	return itemsWhere(ctx, client, ruleitem.Archived(true), ruleitem.TextIn(texts...))
}

func itemsWhere(ctx context.Context, client *ent.Client, where ...predicate.RuleItem) ([]Item, error) {
	rows, err := client.RuleItem.Query().Where(where...).
		Order(ent.Asc(ruleitem.FieldArchived, ruleitem.FieldPosition, ruleitem.FieldID)).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load rule items: %w", err)
	}
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = Item{ID: row.ID, Text: row.Text, ArchivedAt: row.ArchivedAt, CreatedAt: row.CreatedAt, Position: row.Position}
	}
	return items, nil
}

// insert adds a version of the rules.
func insert(ctx context.Context, client *ent.Client, id int64, rules Rules) error {
	account, _, _ := viewer.Tenant(ctx)
	err := client.Ruleset.Create().SetID(id).SetAccountID(account).
		SetVersion(rules.Version).SetText(rules.Text).SetCreatedAt(rules.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert rules %d: %w", rules.Version, err)
	}
	return nil
}

// saveItems writes a difference, and deletes archived items beyond the newest
// MaxArchived.
func saveItems(ctx context.Context, client *ent.Client, diff change) error {
	account, _, _ := viewer.Tenant(ctx)
	if _, err := client.RuleItem.Delete().Where(ruleitem.IDIn(diff.Removed...)).Exec(viewer.ByIDs(ctx)); err != nil {
		return fmt.Errorf("delete rule items: %w", err)
	}
	creates := make([]*ent.RuleItemCreate, len(diff.Saved))
	for i, item := range diff.Saved {
		creates[i] = client.RuleItem.Create().SetID(item.ID).SetAccountID(account).SetText(item.Text).
			SetPosition(item.Position).SetArchived(item.ArchivedAt != nil).SetNillableArchivedAt(item.ArchivedAt).
			SetCreatedAt(item.CreatedAt)
	}
	if err := client.RuleItem.CreateBulk(creates...).Exec(ctx); err != nil {
		return fmt.Errorf("insert rule items: %w", err)
	}
	oldest, err := client.RuleItem.Query().Where(ruleitem.Archived(true)).
		Order(ent.Asc(ruleitem.FieldPosition, ruleitem.FieldID)).
		Offset(MaxArchived).Limit(maxItems).IDs(ctx)
	if err != nil || len(oldest) == 0 {
		return err
	}
	if _, err := client.RuleItem.Delete().Where(ruleitem.IDIn(oldest...)).Exec(viewer.ByIDs(ctx)); err != nil {
		return fmt.Errorf("delete archived rule items: %w", err)
	}
	return nil
}
