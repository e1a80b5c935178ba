package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Library has a tenant's counters. Belongs to the module library.
type Library struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Library) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Library.
func (Library) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("revision").Default(0).
			Comment("Incremented by every transaction that changes a list."),
		field.Int64("videos").Default(0),
		field.Text("method").Default("").
			Comment("The rules and the growth table that every video was scored by, with \", not finished\" while a rescoring runs; another one means that it is scored again."),
		field.Int64("rescored_to").Default(0).
			Comment("How far a rescoring came: the last id of its current step."),
		field.Int("rescore_step").Default(0).
			Comment("The step that a rescoring is in; 0 before the first."),
		field.Text("swept").Default("").
			Comment("How far the sweeps came, by what they delete: the last reading that was looked at. JSON; empty at the beginning."),
	}
}

// Indexes of Library.
func (Library) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
	}
}
