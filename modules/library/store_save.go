package library

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// save writes videos, new and known, with their documents and the observations
// that they got.
func (s *Service) save(ctx context.Context, tx *store.Tx, batch Batch, changed []*Video) error {
	if len(changed) == 0 {
		return nil
	}
	videos, docs := make([][]any, len(changed)), make([][]any, len(changed))
	var readings [][]any
	added := 0
	for i, v := range changed {
		t, err := v.Render()
		if err != nil {
			return err
		}
		videos[i] = []any{
			v.id, v.Platform, v.ExternalID, v.creatorID, v.Kind(), batch.Subject, v.scrollID, v.PostedAt, v.FirstSeenAt,
			*v.Metrics.ObservedAt, v.usableViews, v.usableAt, v.goneAt, v.digest, 0, 0, 0, seenOrder(v.FirstSeenAt, v.id), nullable(v.hookOrder),
		}
		docs[i] = []any{v.id, t.doc, t.hook, t.keys}
		if m := v.reading; m != nil {
			readings = append(readings, []any{s.db.NewID(), v.id, batch.ScrollID, batch.Stage, m.Views, m.Likes, m.Comments, m.Shares, m.Saves, *m.ObservedAt})
		}
		if v.isNew {
			added++
		}
	}
	if _, err := s.hot.saveVideos.ExecIn(ctx, tx, videos); err != nil {
		return fmt.Errorf("save videos: %w", err)
	}
	if _, err := s.hot.saveDocs.ExecIn(ctx, tx, docs); err != nil {
		return fmt.Errorf("save documents: %w", err)
	}
	if len(readings) > 0 {
		if _, err := s.hot.addObservations.ExecIn(ctx, tx, readings); err != nil {
			return fmt.Errorf("add observations: %w", err)
		}
	}
	if added > 0 {
		if err := tx.Ent().Library.Update().AddVideos(int64(added)).Exec(ctx); err != nil {
			return fmt.Errorf("count videos: %w", err)
		}
	}
	return nil
}

// saveCreators finds or adds the creators of videos, and marks them for the next
// scoring, together with those whose videos are about to change hands.
func (s *Service) saveCreators(ctx context.Context, tx *store.Tx, videos []*Video) error {
	type name struct{ platform, key string }
	handles := map[name]string{}
	var order []name
	var stored []int64
	for _, v := range videos {
		if v.creatorID != nil {
			stored = append(stored, *v.creatorID)
		}
		if v.creator == "" {
			continue
		}
		n := name{v.Platform, v.creator}
		if _, seen := handles[n]; !seen {
			order = append(order, n)
		}
		if v.handle != "" || handles[n] == "" {
			handles[n] = v.handle
		}
	}
	if len(stored) > 0 {
		err := tx.Ent().Creator.Update().Where(creator.IDIn(stored...), creator.Dirty(0)).SetDirty(1).Exec(ctx)
		if err != nil {
			return fmt.Errorf("mark creators: %w", err)
		}
	}
	if len(order) == 0 {
		return nil
	}
	values := make([][]any, len(order))
	for i, n := range order {
		values[i] = []any{s.db.NewID(), n.platform, n.key, handles[n], 1, 0}
	}
	ids := make(map[name]int64, len(order))
	rows, err := s.hot.saveCreators.QueryIn(ctx, tx, values)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var id int64
		var n name
		err := rows.Scan(&id, &n.platform, &n.key)
		ids[n] = id
		return err
	})
	if err != nil {
		return fmt.Errorf("save creators: %w", err)
	}
	for _, v := range videos {
		if id, ok := ids[name{v.Platform, v.creator}]; ok {
			v.creatorID = &id
		}
	}
	return nil
}

// nullable keeps nil from becoming an empty value.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// load returns the videos that the library has, one query a platform. Which of
// them the scroll has observed is in their field seen.
func (s *Service) load(ctx context.Context, tx *store.Tx, scroll int64, refs []stage.Ref) (map[stage.Ref]*Video, error) {
	known := make(map[stage.Ref]*Video, len(refs))
	platforms := byPlatform(refs)
	for _, platform := range sortedKeys(platforms) {
		rows, err := s.hot.load.QueryIn(ctx, tx, scroll, platform, platforms[platform])
		err = store.Scan(rows, err)(func(rows *sql.Rows) error {
			v, t := &Video{}, texts{}
			err := rows.Scan(&v.id, &v.creatorID, &v.scrollID, &v.usableViews, &v.usableAt, &v.goneAt, &v.digest, &v.hookOrder,
				&v.seen, &t.doc, &t.hook, &t.keys)
			if err != nil {
				return err
			}
			if err := v.parse(t); err != nil {
				return err
			}
			known[v.Ref] = v
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("load videos: %w", err)
		}
	}
	return known, nil
}

// byPlatform sorts the ids of videos by their platform, fit for columns.
func byPlatform(refs []stage.Ref) map[string][]string {
	platforms := map[string][]string{}
	for _, ref := range refs {
		ref = cleanRef(ref)
		platforms[ref.Platform] = append(platforms[ref.Platform], ref.ExternalID)
	}
	return platforms
}
