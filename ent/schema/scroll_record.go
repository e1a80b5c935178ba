package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ScrollRecord is a video on its way through the steps of one scroll; deleted when the scroll has ended. Belongs to the module scrolls.
type ScrollRecord struct{ ent.Schema }

// Mixin makes it tenant-private.
func (ScrollRecord) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of ScrollRecord.
func (ScrollRecord) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("scroll_id").Immutable(),
		field.Text("platform").Immutable(),
		field.Text("external_id").Immutable(),
		field.Text("record").
			Comment("The record as JSON, in the form of the stage protocol."),
		field.Text("seed").
			Comment("The seed that led to it."),
		field.Bool("known").Default(false),
		field.Bool("refreshed").Default(false),
		field.Text("dropped_by").Default("").
			Comment("The rule that dropped it; empty if it is kept."),
		field.Float("rank").Default(0).
			Comment("From the screen; higher is better."),
	}
}

// Indexes of ScrollRecord.
func (ScrollRecord) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "scroll_id", "platform", "external_id").Unique(),
		index.Fields("account_id", "scroll_id", "dropped_by", "rank", "id"),
	}
}
