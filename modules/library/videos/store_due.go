package videos

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
)

// KeptUntil returns when the policy deletes the first of what some videos are known from, unless
// their sources read them again; the zero time if no part of it has an end.
func (s *Service) KeptUntil(ctx context.Context, ids []int64) (first time.Time, err error) {
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
