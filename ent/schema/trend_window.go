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
		field.Text("scrolls").
			Comment("Ids of the scrolls, separated by spaces."),
		field.Int("videos").
			Comment("Videos seen in them that are not archived."),
		field.Int("all_videos"),
	}
}

// Indexes of TrendWindow.
func (TrendWindow) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "subject").Unique(),
	}
}
