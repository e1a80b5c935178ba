package sources

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/sourcepage"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// pages stores the rows of the memory.
type pages struct{ db *store.DB }

// find reads a page, in a transaction unless tx is nil. Without one, page is nil.
func (p pages) find(ctx context.Context, tx *store.Tx, plugin, name string) (page []byte, read, until time.Time, err error) {
	client := p.db.Ent()
	if tx != nil {
		client = tx.Ent()
	}
	row, err := client.SourcePage.Query().Where(sourcepage.Plugin(plugin), sourcepage.Name(name)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, time.Time{}, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, time.Time{}, err
	}
	if row.ReadAt > 0 {
		page = row.Page
	}
	return page, time.UnixMilli(row.ReadAt), time.UnixMilli(row.ClaimedUntil), nil
}

// locked decides on a page alone.
func (p pages) locked(ctx context.Context, plugin, name string, do func(context.Context, *store.Tx) error) error {
	return p.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "sources/"+plugin+"/"+name, 0); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// claim gives a page to one caller.
func (p pages) claim(ctx context.Context, tx *store.Tx, plugin, name string, until time.Time) error {
	return tx.Ent().SourcePage.Create().SetID(p.db.NewID()).SetPlugin(plugin).SetName(name).
		SetPage([]byte{}).SetReadAt(0).SetClaimedUntil(until.UnixMilli()).
		OnConflict(
			sql.ConflictColumns(sourcepage.FieldPlugin, sourcepage.FieldName),
			sql.ResolveWith(func(u *sql.UpdateSet) { u.Set(sourcepage.FieldClaimedUntil, until.UnixMilli()) }),
		).Exec(ctx)
}

// put stores a page. It ends the claim at the time of the reading, which says when the page
// was last asked for.
func (p pages) put(ctx context.Context, plugin, name string, page []byte, at time.Time) error {
	return p.locked(ctx, plugin, name, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().SourcePage.Create().SetID(p.db.NewID()).SetPlugin(plugin).SetName(name).
			SetPage(page).SetReadAt(at.UnixMilli()).SetClaimedUntil(at.UnixMilli()).
			OnConflict(
				sql.ConflictColumns(sourcepage.FieldPlugin, sourcepage.FieldName),
				sql.ResolveWith(func(u *sql.UpdateSet) {
					u.SetExcluded(sourcepage.FieldPage).SetExcluded(sourcepage.FieldReadAt).SetExcluded(sourcepage.FieldClaimedUntil)
				}),
			).Exec(ctx)
	})
}

// release ends a claim.
func (p pages) release(ctx context.Context, plugin, name string, at time.Time) error {
	return p.locked(ctx, plugin, name, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().SourcePage.Update().Where(sourcepage.Plugin(plugin), sourcepage.Name(name), sourcepage.ClaimedUntilGT(at.UnixMilli())).
			SetClaimedUntil(at.UnixMilli()).Exec(ctx)
	})
}

// sweep removes at most limit pages that no one has claimed since a moment.
func (p pages) sweep(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = p.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().SourcePage.Query().Where(sourcepage.ClaimedUntilLT(before.UnixMilli())).
			Order(sourcepage.ByClaimedUntil(), sourcepage.ByID()).Limit(limit).IDs(ctx)
		if removed = 0; err != nil || len(ids) == 0 {
			return err
		}
		removed, err = tx.Ent().SourcePage.Delete().Where(sourcepage.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old pages of sources: %w", err)
	}
	return removed, nil
}
