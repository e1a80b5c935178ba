package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Erasure is the deletion of a creator from the libraries of all tenants, by the operator. Belongs to the module library.
type Erasure struct{ ent.Schema }

// Fields of Erasure.
func (Erasure) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("hash").Immutable().
			Comment("Keyed hash of the name that it was asked for."),
		field.Bytes("names").
			Comment("Sealed JSON: all names of the creator that were found; empty once it is done."),
		field.Text("platform").Immutable(),
		field.Text("reason").Immutable(),
		field.Int("accounts").Default(0),
		field.Int("videos").Default(0),
		field.Int("readings").Default(0),
		field.Int64("created_at").Immutable(),
		field.Int64("finished_at").Default(0).
			Comment("0 while it is under way."),
	}
}

// Indexes of Erasure.
func (Erasure) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("hash", "finished_at", "id"),
	}
}
