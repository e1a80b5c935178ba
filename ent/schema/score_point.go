package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ScorePoint is the score of one video after one scroll: of each video that the scroll observed, and of each that it
// moved into or out of the outliers. Belongs to the module library.
type ScorePoint struct{ ent.Schema }

// Mixin makes it tenant-private.
func (ScorePoint) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of ScorePoint.
func (ScorePoint) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("scroll_id").Immutable(),
		field.Int64("video_id").Immutable(),
		field.Text("method").
			Comment("The rules and the growth table, with their versions."),
		field.Text("growth_kind"),
		field.Int64("posted_at").Optional().Nillable(),
		field.Int64("observed_at").
			Comment("Time of the reading that was scored."),
		field.Int64("views"),
		field.Int64("twice_baseline").
			Comment("0 without a score."),
		field.Int("sample_count"),
		field.Int("peers").
			Comment("The creator's own peers."),
		field.Int64("early").Default(0).
			Comment("As early of videos."),
		field.Int("by_niche").
			Comment("1 where the baseline comes from the niche."),
		field.Int("doubtful"),
		field.Int("listed").
			Comment("1 where the video is an outlier."),
		field.Int("flag").Default(0).
			Comment("1 where this scroll moved it into the outliers, 2 out of them, 0 where it did neither."),
	}
}

// Indexes of ScorePoint.
func (ScorePoint) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "scroll_id", "video_id").Unique(),
		index.Fields("account_id", "video_id", "scroll_id"),
	}
}
