package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Trend is a trend of one subject, computed by its last scroll. Belongs to the module library.
type Trend struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Trend) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Trend.
func (Trend) Fields() []ent.Field {
	return []ent.Field{
		field.Text("subject").Immutable(),
		field.Int("with_archived").Immutable().
			Comment("1 in the list that also counts archived videos."),
		field.Text("key").Immutable(),
		field.Text("label"),
		field.Bytes("place").
			Comment("Strength, video count, highest first, then key: the sort key."),
		field.Int("listed").Default(1).
			Comment("0 where it is dropped, as half of its recent videos are those of one above it."),
		field.Text("head").
			Comment("The Trend's JSON without its examples and without the closing brace."),
		field.Int("video_count"),
		field.Int64("example1").Optional().Nillable(),
		field.Int64("example2").Optional().Nillable(),
		field.Int64("example3").Optional().Nillable(),
		field.Bytes("members").Optional().Nillable().
			Comment("Videos of the window with the key, and what each adds; in the list with archived ones only."),
		field.Bytes("recent").Optional().Nillable().
			Comment("Ids of the recent videos that the list counts, 8 bytes each, and behind them what is new, 13 bytes."),
	}
}

// Indexes of Trend.
func (Trend) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "subject", "with_archived", "key").Unique(),
		index.Fields("account_id", "subject", "with_archived", "listed", "place"),
	}
}
