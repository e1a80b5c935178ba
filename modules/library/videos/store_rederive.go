package videos

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Rederive fills in what videos lack that an earlier version stored: the kind, the handle,
// the opening, the likes of the newest usable reading and the keys.
func (s *Service) Rederive(ctx context.Context) (done bool, err error) {
	err = s.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		refs, keys := []stage.Ref{}, map[stage.Ref]name{}
		rows, err := s.db.Hot(`SELECT v.platform, v.external_id, c.key, c.handle FROM videos v LEFT JOIN creators c ON c.id = v.creator_id AND +{tenant:c}
WHERE {tenant:v} AND v.growth_kind = '' LIMIT 200`).QueryIn(ctx, tx)
		err = store.Scan(rows, err)(func(rows *sql.Rows) error {
			var ref stage.Ref
			var key, handle sql.NullString
			err := rows.Scan(&ref.Platform, &ref.ExternalID, &key, &handle)
			refs, keys[ref] = append(refs, ref), name{handle.String, key.String}
			return err
		})
		if err != nil {
			return err
		}
		if done = len(refs) == 0; done {
			return nil
		}
		known, err := s.load(ctx, tx, 0, refs)
		if err != nil {
			return err
		}
		videos := make([]*Video, 0, len(refs))
		for _, ref := range refs {
			v := known[ref]
			if v == nil {
				return fmt.Errorf("no document of %s/%s", ref.Platform, ref.ExternalID)
			}
			if err := v.renew(ctx, tx, keys[ref].key, keys[ref].platform); err != nil {
				return err
			}
			videos = append(videos, v)
		}
		return s.save(ctx, tx, Batch{}, videos)
	})
	return done, err
}

// renew works out the columns that an earlier version did not have, from the documents and
// the former creator key, which was the creator's id or else the folded handle.
func (v *Video) renew(ctx context.Context, tx *store.Tx, key, handle string) error {
	known := FactsOf(v.Metadata)
	v.derive(&known)
	i := &v.identity
	if i.handle = score.Handle(handle); i.handle != "" {
		i.shown = handle
	}
	switch {
	case key == "" || strings.HasPrefix(key, "id:") || strings.HasPrefix(key, "handle:"):
	case score.Handle(key) == i.handle:
		i.handleOnly = true
	default:
		i.given = key
	}
	if len(v.hookOrder) == FormerHookSize && v.Hook.Version > 0 {
		v.hookChangedAt = firstOfOrder(v.hookOrder)
		v.hookOrder, v.opening = hookOrder(false, v.hookChangedAt, v.id), v.Hook.opening()
	}
	if v.usableAt != nil && v.usableLikes == nil {
		if m := v.Metrics; m.ObservedAt != nil && *m.ObservedAt == *v.usableAt && m.Views != nil && *m.Views == *v.usableViews {
			v.usableLikes = m.Likes
		} else {
			row, err := tx.Ent().Observation.Query().
				Where(observation.VideoID(v.id), observation.ObservedAt(*v.usableAt), observation.Views(*v.usableViews)).First(ctx)
			if err != nil && !ent.IsNotFound(err) {
				return fmt.Errorf("find a reading of video %d: %w", v.id, err)
			}
			if row != nil {
				v.usableLikes = row.Likes
			}
		}
	}
	v.mergeKeys(&stage.Record{}, &known)
	v.hasNewReading = v.usableViews != nil
	return nil
}

// Rekey deletes creators that an earlier version named, which no video has any more.
func (s *Service) Rekey(ctx context.Context) error {
	return s.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Ent().Creator.Delete().Where(creator.Not(creator.KeyHasPrefix("id:")), creator.Not(creator.KeyHasPrefix("handle:"))).Exec(ctx)
		return err
	})
}
