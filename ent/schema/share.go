package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Share is a public read-only page of a part of an account, as it was when it was made. Belongs to the module shares.
type Share struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Share) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Share.
func (Share) Fields() []ent.Field {
	return []ent.Field{
		field.Text("token_hash").Immutable(),
		field.Text("kind").Immutable().
			Comment("`video`, `collection`, `finding` or `brief`."),
		field.Text("title").Immutable(),
		field.Int64("views").Default(0),
		field.Int64("expires_at").Immutable(),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of Share.
func (Share) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("token_hash"),
		index.Fields("expires_at", "id"),
	}
}
