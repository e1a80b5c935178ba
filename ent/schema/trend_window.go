package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TrendWindow has the scrolls over which a subject's trends were computed. Belongs to the module library.
type TrendWindow struct{ ent.Schema }

// Mixin makes it tenant-private.
func (TrendWindow) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of TrendWindow.
func (TrendWindow) Fields() []ent.Field {
	return []ent.Field{
		field.Text("subject").Immutable(),
		field.Int64("newest_at").Default(0).
			Comment("T: the newest usable observation."),
		field.Int64("span").Default(0).
			Comment("W in milliseconds; the window is twice as long."),
		field.Int("videos").
			Comment("Videos of the window, archived ones too."),
		field.Int("recent").Default(0).
			Comment("Creators of videos posted in the newer half."),
		field.Int("earlier").Default(0).
			Comment("Creators of videos posted in the older half."),
	}
}

// Indexes of TrendWindow.
func (TrendWindow) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "subject").Unique(),
	}
}
