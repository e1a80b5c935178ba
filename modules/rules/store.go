package rules

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/ruleitem"
	"github.com/scrollery/scrollery/ent/ruleset"
	"github.com/scrollery/scrollery/modules/kernel/deflate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// hot holds the module's hot statements; everything else goes through Ent.
type hot struct {
	latest, number, active, listed, found *store.Hot

	pack, addItems, moveItems *store.Hot // the text of a version is immutable to Ent
}

const itemColumns = `id, text, archived_at, created_at, position`

func newHot(db *store.DB) hot {
	return hot{
		latest: db.Hot(`SELECT version, text, created_at, archived_items FROM rulesets WHERE {tenant} ORDER BY version DESC LIMIT 1`),
		number: db.Hot(`SELECT version FROM rulesets WHERE {tenant} ORDER BY version DESC LIMIT 1`),
		active: db.Hot(`SELECT ` + itemColumns + ` FROM rule_items WHERE {tenant} AND archived = FALSE ORDER BY position, id`),
		listed: db.Hot(`SELECT ` + itemColumns + ` FROM rule_items WHERE {tenant} ORDER BY archived, position, id`),
		// By the digest, of which 0 stands for any; the other index has all archived items.
		found: db.Hot(`SELECT ` + itemColumns + ` FROM rule_items
WHERE {tenant} AND digest IN ({list:1}) AND archived AND text IN ({list:2}) ORDER BY position, id`),
		pack:      db.Hot(`UPDATE rulesets SET text = '', packed = $2 WHERE {tenant} AND version = $1`),
		addItems:  db.Hot(`INSERT INTO rule_items ({owner}, id, text, position, archived, created_at, digest) VALUES {rows:1}`),
		moveItems: db.Hot(`UPDATE rule_items SET position = $2, archived = $3, archived_at = $4, digest = $5 WHERE id = $1 AND +{tenant}`),
	}
}

// uncounted is the number of archived items that a version of earlier times has.
const uncounted = -1

// load returns the viewer's ruleset in force without its workspace, or nil, and how many
// archived items there are, or uncounted; with tx nil outside of transactions.
func (h *hot) load(ctx context.Context, tx *store.Tx) (rules *Rules, archived int, err error) {
	row, found, err := store.OneIn[struct {
		Version       int
		Text          string
		CreatedAt     int64
		ArchivedItems *int
	}](ctx, tx, h.latest)
	if err != nil {
		return nil, 0, fmt.Errorf("load rules: %w", err)
	}
	if !found {
		return nil, 0, nil
	}
	archived = uncounted
	if row.ArchivedItems != nil {
		archived = *row.ArchivedItems
	}
	return &Rules{Version: row.Version, Text: row.Text, CreatedAt: row.CreatedAt}, archived, nil
}

// version returns that of the viewer's ruleset in force; 0 before the first.
func (h *hot) version(ctx context.Context) (int, error) {
	version, _, err := store.One[int](ctx, h.number)
	if err != nil {
		return 0, fmt.Errorf("load rules version: %w", err)
	}
	return version, nil
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
		if len(row.Packed) > 0 {
			if out[i].Text, err = deflate.Unpack(row.Packed); err != nil {
				return nil, fmt.Errorf("list rules: version %d: %w", row.Version, err)
			}
		}
	}
	return out, nil
}

// items returns the viewer's items in the order in which they are listed, without the
// archived ones unless they are asked for.
func (h *hot) items(ctx context.Context, tx *store.Tx, archived bool) ([]Item, error) {
	if archived {
		return loadItems(ctx, tx, h.listed)
	}
	return loadItems(ctx, tx, h.active)
}

// back returns the archived items that have one of the texts.
func (h *hot) back(ctx context.Context, tx *store.Tx, texts []string) ([]Item, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	digests := []int64{0}
	for _, text := range texts {
		digests = append(digests, digest(text))
	}
	return loadItems(ctx, tx, h.found, digests, texts)
}

func loadItems(ctx context.Context, tx *store.Tx, s *store.Hot, args ...any) ([]Item, error) {
	items, err := store.QueryIn[Item](ctx, tx, s, args...)
	if err != nil {
		return nil, fmt.Errorf("load rule items: %w", err)
	}
	return items, nil
}

// trim adds the archived items to the difference that are beyond the newest MaxArchived,
// and returns how many there are after it; archived is how many there were. It counts them
// only for the first version that has their number: to step over MaxArchived rows at each
// put would take longer than all else.
func (h *hot) trim(ctx context.Context, tx *store.Tx, archived int, diff *change) (int, error) {
	items := tx.Ent().RuleItem.Query().Where(ruleitem.Archived(true))
	if archived == uncounted {
		var err error
		if archived, err = items.Clone().Count(ctx); err != nil {
			return 0, fmt.Errorf("count archived rule items: %w", err)
		}
	}
	if archived += diff.Archived; archived <= MaxArchived {
		return archived, nil
	}
	back := make(map[int64]bool, len(diff.Moved))
	for _, item := range diff.Moved {
		back[item.ID] = true
	}
	// At most maxItems of them come back, and as many others are archived.
	oldest, err := items.Order(ent.Desc(ruleitem.FieldPosition, ruleitem.FieldID)).Limit(2 * maxItems).IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("find the oldest rule items: %w", err)
	}
	for _, id := range oldest {
		if archived <= MaxArchived {
			break
		}
		if !back[id] {
			diff.Removed = append(diff.Removed, id)
			archived--
		}
	}
	return archived, nil
}

// insert adds a version of the rules, beside so many archived items.
func (h *hot) insert(ctx context.Context, tx *store.Tx, id int64, rules Rules, archived int) error {
	account, _, _ := viewer.Tenant(ctx)
	err := tx.Ent().Ruleset.Create().SetID(id).SetAccountID(account).SetVersion(rules.Version).SetText(rules.Text).
		SetCreatedAt(rules.CreatedAt).SetArchivedItems(archived).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert rules %d: %w", rules.Version, err)
	}
	return nil
}

// packFrom is the length of a text from which packing it saves something.
const packFrom = 256

// retire packs the text of a version that is not in force any more.
func (h *hot) retire(ctx context.Context, tx *store.Tx, rules *Rules) error {
	if len(rules.Text) < packFrom {
		return nil
	}
	if _, err := h.pack.ExecIn(ctx, tx, rules.Version, deflate.Pack(rules.Text)); err != nil {
		return fmt.Errorf("pack rules %d: %w", rules.Version, err)
	}
	return nil
}

// save writes a difference.
func (h *hot) save(ctx context.Context, tx *store.Tx, diff change) error {
	if len(diff.Removed) > 0 {
		if _, err := tx.Ent().RuleItem.Delete().Where(ruleitem.IDIn(diff.Removed...)).Exec(viewer.ByIDs(ctx)); err != nil {
			return fmt.Errorf("delete rule items: %w", err)
		}
	}
	moved := make([][]any, len(diff.Moved))
	for i, item := range diff.Moved {
		moved[i] = []any{item.ID, item.Position, item.ArchivedAt != nil, item.ArchivedAt, digest(item.Text)}
	}
	if _, err := h.moveItems.ExecRows(ctx, tx, moved); err != nil {
		return fmt.Errorf("move rule items: %w", err)
	}
	added := make([][]any, len(diff.Added))
	for i, item := range diff.Added {
		added[i] = []any{item.ID, item.Text, item.Position, item.ArchivedAt != nil, item.CreatedAt, digest(item.Text)}
	}
	if len(added) > 0 {
		if _, err := h.addItems.ExecIn(ctx, tx, added); err != nil {
			return fmt.Errorf("insert rule items: %w", err)
		}
	}
	return nil
}

// digest is what an item is found by, with its text. It is never 0.
func digest(text string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return max(int64(h.Sum64()>>1), 1)
}
