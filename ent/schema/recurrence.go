package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Recurrence is the schedule of a workspace's scrolls. Belongs to the module scrolls.
type Recurrence struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Recurrence) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Recurrence.
func (Recurrence) Fields() []ent.Field {
	return []ent.Field{
		field.Int("every_days"),
		field.Text("prompt").Optional().Nillable(),
		field.Text("template").Optional().Nillable(),
		field.Int64("next_at"),
		field.Int64("created_at"),
	}
}

// Indexes of Recurrence.
func (Recurrence) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
		index.Fields("next_at", "id"),
	}
}
