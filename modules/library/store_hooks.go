package library

import (
	"bytes"
	"context"
	"database/sql"
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

// rankHooks finds out which hooks of the groups repeat another one. Of each group the
// rows that change are the one that stood for it and the one that does now.
func (s *Service) rankHooks(ctx context.Context, tx *store.Tx, groups []hookGroup) error {
	wanted := map[hookGroup]bool{}
	creators, openings := map[int64]bool{}, map[string]bool{}
	for _, g := range groups {
		if g.creator != 0 && g.opening != "" {
			wanted[g], creators[g.creator], openings[g.opening] = true, true, true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	found, orders := map[hookGroup][]score.Hook{}, map[int64][]byte{}
	rows, err := s.hot.groups.QueryIn(ctx, tx, sortedKeys(creators), sortedKeys(openings))
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var h score.Hook
		var order []byte
		if err := rows.Scan(&h.ID, &h.Creator, &h.Opening, &h.ChangedAt, &order); err != nil {
			return err
		}
		if g := (hookGroup{h.Creator, h.Opening}); wanted[g] && order != nil {
			found[g], orders[h.ID] = append(found[g], h), order
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read hooks of one opening: %w", err)
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
	save := s.db.Hot(`UPDATE videos SET hook_order = n.column2 FROM (VALUES {values:1 BIGINT,BYTES}) AS n
WHERE videos.id = n.column1 AND +{tenant:videos}`)
	for part := range slices.Chunk(changes, videosAtOnce) {
		if _, err := save.ExecIn(ctx, tx, part); err != nil {
			return fmt.Errorf("save the order of hooks: %w", err)
		}
	}
	return nil
}
