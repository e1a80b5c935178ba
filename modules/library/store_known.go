package library

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// knownAtOnce is how many videos one look-up asks for.
const knownAtOnce = 100

// Known returns an entry for each of the videos that the library has: whether it
// has evidence too.
func (s *Service) Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error) {
	known := make(map[stage.Ref]bool, len(refs))
	err := s.readings(ctx, refs, func(ref stage.Ref, hasEvidence bool, _ int64) { known[ref] = hasEvidence })
	return known, err
}

// LastObserved returns when each of the videos that the library has was observed
// last, in Unix milliseconds.
func (s *Service) LastObserved(ctx context.Context, refs []stage.Ref) (map[stage.Ref]int64, error) {
	last := make(map[stage.Ref]int64, len(refs))
	err := s.readings(ctx, refs, func(ref stage.Ref, _ bool, at int64) { last[ref] = at })
	return last, err
}

func (s *Service) readings(ctx context.Context, refs []stage.Ref, do func(ref stage.Ref, hasEvidence bool, at int64)) error {
	return s.eachKnown(refs, func(platform string, ids []string) error {
		rows, err := s.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).
			Select(video.FieldExternalID, video.FieldHookOrder, video.FieldObservedAt).All(ctx)
		for _, row := range rows {
			do(stage.Ref{Platform: platform, ExternalID: row.ExternalID}, row.HookOrder != nil && len(*row.HookOrder) > 0, row.ObservedAt)
		}
		return err
	})
}

// ObservedIn returns when some scrolls, nil for all, observed videos: for each video that
// has an observation by one of them, the scroll and the time.
func (s *Service) ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error) {
	found := map[stage.Ref]map[int64]int64{}
	if scrolls != nil && len(scrolls) == 0 {
		return found, nil
	}
	err := s.eachKnown(refs, func(platform string, ids []string) error {
		rows, err := s.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).Select(video.FieldExternalID).All(ctx)
		if err != nil {
			return err
		}
		of := make(map[int64]stage.Ref, len(rows))
		for _, row := range rows {
			of[row.ID] = stage.Ref{Platform: platform, ExternalID: row.ExternalID}
		}
		query := s.db.Ent().Observation.Query().Where(observation.VideoIDIn(sortedKeys(of)...))
		if scrolls != nil {
			query.Where(observation.ScrollIDIn(scrolls...))
		}
		seen, err := query.Select(observation.FieldVideoID, observation.FieldScrollID, observation.FieldObservedAt).All(ctx)
		for _, o := range seen {
			ref := of[o.VideoID]
			if found[ref] == nil {
				found[ref] = map[int64]int64{}
			}
			found[ref][o.ScrollID] = o.ObservedAt
		}
		return err
	})
	return found, err
}

// eachKnown calls do with the ids of each platform, knownAtOnce at a time.
func (s *Service) eachKnown(refs []stage.Ref, do func(platform string, ids []string) error) error {
	platforms := byPlatform(refs)
	for _, platform := range sortedKeys(platforms) {
		for ids := range slices.Chunk(platforms[platform], knownAtOnce) {
			if err := do(platform, ids); err != nil {
				return fmt.Errorf("look up known videos: %w", err)
			}
		}
	}
	return nil
}

// readBefore returns the videos that a batch has a reading of which the library has too:
// of the same time. It asks only for batches that are to be kept once.
func (s *Service) readBefore(ctx context.Context, tx *store.Tx, batch Batch, records []*stage.Record, known map[stage.Ref]*Video) (read map[int64]bool, err error) {
	read = map[int64]bool{}
	if !batch.Once {
		return read, nil
	}
	var pairs [][]any
	for _, r := range records {
		if v := known[r.Ref]; v != nil && r.Metrics.ObservedAt != nil {
			pairs = append(pairs, []any{v.id, *r.Metrics.ObservedAt})
		}
	}
	if len(pairs) == 0 {
		return read, nil
	}
	rows, err := s.db.Hot(`SELECT n.column1 FROM (VALUES {values:1 BIGINT,BIGINT}) AS n
WHERE EXISTS (SELECT 1 FROM observations o WHERE {tenant:o} AND o.video_id = n.column1 AND o.observed_at = n.column2)`).QueryIn(ctx, tx, pairs)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		read[id] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find readings: %w", err)
	}
	return read, nil
}

// Tracked returns videos of a platform that are neither archived nor gone, those
// that were first seen last at the beginning. after is 0 for the first call, then
// the next of the call before; next is 0 at the end.
func (s *Service) Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error) {
	from := []byte{0}
	if after != 0 {
		switch row, err := s.db.Ent().Video.Get(ctx, after); {
		case err == nil:
			from = row.SeenOrder
		case !ent.IsNotFound(err):
			return nil, 0, fmt.Errorf("find tracked videos: %w", err)
		}
	}
	q := page{list: videos, platform: platform, limit: limit}
	rows, err := s.db.Hot(q.tracked()).Query(ctx, from, platform)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		ref := stage.Ref{Platform: platform}
		err := rows.Scan(&next, &ref.ExternalID)
		refs = append(refs, ref)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list tracked videos: %w", err)
	}
	if len(refs) < limit {
		next = 0
	}
	return refs, next, nil
}
