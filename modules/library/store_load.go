package library

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

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
