package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Suppression keeps an erased creator, or a video of one, out of the libraries of all tenants. It has no name, only a hash with
// the server's key. Belongs to the module library.
type Suppression struct{ ent.Schema }

// Fields of Suppression.
func (Suppression) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("hash").Immutable(),
		field.Int64("erasure_id").Immutable(),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of Suppression.
func (Suppression) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("hash").Unique(),
	}
}
