package videos

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// hookGroup is the hooks of one creator that begin alike.
type hookGroup struct {
	creator int64
	opening string
}

// hookGroups are the groups that a changed video belonged to and belongs to.
func (v *Video) hookGroups() (groups []hookGroup) {
	if !v.isNew && v.before.hookChangedAt == v.hookChangedAt && v.before.creatorID == v.creator() {
		return nil
	}
	return []hookGroup{{v.before.creatorID, v.before.opening}, {v.creator(), v.opening}}
}

// groupsOf are the groups of changed videos in which one may repeat another. A video of a
// creator that was just added, without another of its group, repeats none.
func groupsOf(changed []*Video, added map[int64]bool) (groups []hookGroup) {
	together := make(map[hookGroup]int, len(changed))
	for _, v := range changed {
		together[hookGroup{v.creator(), v.opening}]++
	}
	for _, v := range changed {
		if v.isNew && added[v.creator()] && together[hookGroup{v.creator(), v.opening}] == 1 {
			continue
		}
		groups = append(groups, v.hookGroups()...)
	}
	return groups
}

// rankHooks finds out which hooks of the groups repeat another one. Of each group the
// rows that change are the one that stood for it and the one that does now.
func (s *Service) rankHooks(ctx context.Context, tx *store.Tx, groups []hookGroup) error {
	var pairs [][]any
	wanted := map[hookGroup]bool{}
	for _, g := range groups {
		if g.creator != 0 && g.opening != "" && !wanted[g] {
			wanted[g], pairs = true, append(pairs, []any{g.creator, g.opening})
		}
	}
	found, orders := map[hookGroup][]score.Hook{}, map[int64][]byte{}
	for part := range slices.Chunk(pairs, videosAtOnce) {
		err := store.EachIn(ctx, tx, s.hot.groups, func(row *struct {
			ID, CreatorID, HookChangedAt int64
			Opening                      string
			HookOrder                    *[]byte
		},
		) (bool, error) {
			if row.HookOrder != nil {
				g := hookGroup{row.CreatorID, row.Opening}
				h := score.Hook{ID: row.ID, Creator: row.CreatorID, ChangedAt: row.HookChangedAt, Opening: row.Opening}
				found[g], orders[h.ID] = append(found[g], h), *row.HookOrder
			}
			return true, nil
		}, part)
		if err != nil {
			return fmt.Errorf("read hooks of one opening: %w", err)
		}
	}
	var changes [][]any
	for _, hooks := range found {
		first := len(hooks) - score.SortHooks(hooks)
		for i, h := range hooks {
			if order := hookOrder(i >= first, h.ChangedAt, h.ID); !bytes.Equal(order, orders[h.ID]) {
				changes = append(changes, []any{h.ID, order})
			}
		}
	}
	save := s.db.Hot(`UPDATE videos SET hook_order = $2 WHERE id = $1 AND +{tenant}`)
	for part := range slices.Chunk(changes, videosAtOnce) {
		if _, err := save.ExecRows(ctx, tx, part); err != nil {
			return fmt.Errorf("save the order of hooks: %w", err)
		}
	}
	return nil
}
