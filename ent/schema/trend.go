package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Trend is a trend as the last scroll left it. Belongs to the room library.
type Trend struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Trend) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Trend.
func (Trend) Fields() []ent.Field {
	return []ent.Field{
		field.Text("key").Immutable(),
		field.Text("label"),
		field.Bool("with_archived").Default(false),
		field.Int("video_count"),
		field.Float("median_growth"),
		field.Text("examples").
			Comment("Video ids, separated by spaces, at most 3."),
	}
}

// Indexes of Trend.
func (Trend) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "with_archived", "key").Unique(),
	}
}
