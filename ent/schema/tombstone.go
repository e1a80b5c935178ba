package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Tombstone keeps a deleted video or creator out of a library, until its account lifts it. It has no name, only a hash with
// the server's key. Belongs to the module library.
type Tombstone struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Tombstone) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Tombstone.
func (Tombstone) Fields() []ent.Field {
	return []ent.Field{
		field.Text("hash").Immutable(),
		field.Int64("deletion_id").Immutable(),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of Tombstone.
func (Tombstone) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "hash").Unique(),
		index.Fields("account_id", "deletion_id", "id"),
	}
}
