package rules

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/ruleitem"
	"github.com/scrollery/scrollery/ent/ruleset"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// batch keeps a bulk insert below SQLite's bound of 32,766 parameters.
const batch = 2000

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

// loadItems returns the viewer's items in the order in which they are listed.
func loadItems(ctx context.Context, client *ent.Client, archived bool) ([]Item, error) {
	query := client.RuleItem.Query().Order(ent.Asc(ruleitem.FieldArchived, ruleitem.FieldPosition, ruleitem.FieldID))
	if !archived {
		query.Where(ruleitem.Archived(false))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load rule items: %w", err)
	}
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = Item{ID: row.ID, Text: row.Text, ArchivedAt: row.ArchivedAt, CreatedAt: row.CreatedAt}
	}
	return items, nil
}

// insert adds a version and writes the items anew: an item keeps its id and its
// age, and most of them change their place.
func insert(ctx context.Context, client *ent.Client, id int64, rules Rules, items []Item) error {
	account, _, _ := viewer.Tenant(ctx)
	err := client.Ruleset.Create().SetID(id).SetAccountID(account).
		SetVersion(rules.Version).SetText(rules.Text).SetCreatedAt(rules.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert rules %d: %w", rules.Version, err)
	}
	if _, err := client.RuleItem.Delete().Where(ruleitem.AccountID(account)).Exec(ctx); err != nil {
		return fmt.Errorf("clear rule items: %w", err)
	}
	position := 0
	for rows := range slices.Chunk(items, batch) {
		creates := make([]*ent.RuleItemCreate, len(rows))
		for i, item := range rows {
			creates[i] = client.RuleItem.Create().SetID(item.ID).SetAccountID(account).SetText(item.Text).
				SetPosition(position).SetArchived(item.ArchivedAt != nil).SetNillableArchivedAt(item.ArchivedAt).
				SetCreatedAt(item.CreatedAt)
			position++
		}
		if err := client.RuleItem.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("insert rule items: %w", err)
		}
	}
	return nil
}
