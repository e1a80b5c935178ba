package videos

import "github.com/scrollery/scrollery/modules/library/score"

// ReadingColumns are those of a [ReadingRow], but for the id.
const ReadingColumns = "growth_kind, posted_at, usable_at, usable_views, usable_likes"

// ReadingRow is a video as scoring sees it: its newest usable reading.
type ReadingRow struct {
	ID                                           int64
	GrowthKind                                   string
	PostedAt, UsableAt, UsableViews, UsableLikes *int64
}

// Reading is the reading of the row.
func (r *ReadingRow) Reading() score.Reading {
	return score.Reading{
		ID: r.ID, Kind: score.Kind(r.GrowthKind), PostedAt: Or(r.PostedAt, score.Undated), ObservedAt: Or(r.UsableAt, 0),
		Views: Or(r.UsableViews, score.Unknown), Likes: Or(r.UsableLikes, score.Unknown),
	}
}

// ObservedColumns are those of an [ObservedRow].
const ObservedColumns = "video_id, scroll_id, observed_at, views, likes"

// ObservedRow is a reading of a scroll.
type ObservedRow struct {
	VideoID, ScrollID, ObservedAt int64
	Views, Likes                  *int64
}

// Observation is the reading of the row.
func (o *ObservedRow) Observation() score.Observation {
	return score.Observation{Video: o.VideoID, Scroll: o.ScrollID, At: o.ObservedAt, Views: Or(o.Views, score.Unknown), Likes: Or(o.Likes, score.Unknown)}
}

// Or is the value, or what stands for none.
func Or(value *int64, none int64) int64 {
	if value == nil {
		return none
	}
	return *value
}
