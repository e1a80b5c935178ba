package videos

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// KeptUntil returns when the policy deletes the first of what some videos are known from, unless
// their sources read them again; the zero time if no part of it has an end.
func (s Catalog) KeptUntil(ctx context.Context, ids []int64) (first time.Time, err error) {
	var last []struct {
		VideoID int64  `json:"video_id"`
		Stage   string `json:"stage"`
		At      int64  `json:"at"`
	}
	err = s.db.Ent().Observation.Query().Where(observation.VideoIDIn(ids...)).GroupBy(observation.FieldVideoID, observation.FieldStage).
		Aggregate(ent.As(ent.Max(observation.FieldObservedAt), "at")).Scan(ctx, &last)
	if err != nil {
		return time.Time{}, fmt.Errorf("look when sources read videos: %w", err)
	}
	for _, one := range last {
		for _, r := range s.retention {
			if end := time.UnixMilli(one.At).Add(r.Keep); r.Source == one.Stage && (first.IsZero() || end.Before(first)) {
				first = end
			}
		}
	}
	return first, nil
}

// Next returns when the sweep is due that looks next at what a source read, of the tenant's
// library; the zero time if nothing that the source read is left to look at.
func (s Sweeps) Next(ctx context.Context, r Retention) (due time.Time, err error) {
	_, places, err := s.places(ctx)
	if err != nil || places == nil {
		return time.Time{}, err
	}
	at := places[r.name()]
	oldest, found, err := store.One[int64](ctx, s.db.Hot(`SELECT o.observed_at FROM observations o WHERE {tenant:o} AND o.stage = $1 AND (o.observed_at, o.video_id) > ($2, $3)
ORDER BY o.observed_at, o.video_id LIMIT 1`), r.Source, at[0], at[1])
	if err != nil {
		return time.Time{}, fmt.Errorf("look what of %s is due: %w", r.Source, err)
	}
	if !found {
		return time.Time{}, nil
	}
	return time.UnixMilli(oldest).Add(r.Keep), nil
}
