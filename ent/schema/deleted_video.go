package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DeletedVideo is a deleted video as long as its deletion can be undone, sealed with the server's key. Belongs to the
// module library.
type DeletedVideo struct{ ent.Schema }

// Mixin makes it tenant-private.
func (DeletedVideo) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of DeletedVideo.
func (DeletedVideo) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("deletion_id").Immutable(),
		field.Text("creator").Immutable().
			Comment("Keyed hash of its creator; empty if unknown."),
		field.Text("handle").Immutable().
			Comment("Keyed hash of its creator's handle; empty if unknown."),
		field.Bytes("sealed").Immutable().
			Comment("Its rows as sealed JSON."),
	}
}

// Indexes of DeletedVideo.
func (DeletedVideo) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "deletion_id", "id"),
		index.Fields("account_id", "creator"),
		index.Fields("account_id", "handle"),
	}
}
