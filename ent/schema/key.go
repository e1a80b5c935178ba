package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Key is an API key or a session key, of which only the hash is stored. Belongs to the module keys.
type Key struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Key) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Key.
func (Key) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("hash").Immutable().
			Comment("SHA-256 of the whole key."),
		field.Int64("parent_id").Optional().Nillable().Immutable().
			Comment("The key that created a session key; null for other keys."),
		field.Text("scopes").Immutable().
			Comment("Separated by spaces."),
		field.Text("hint").Immutable().
			Comment("The last four characters, to distinguish keys in lists."),
		field.Int64("created_at").Immutable(),
		field.Int64("expires_at").Optional().Nillable().Immutable().
			Comment("Null: never."),
		field.Int64("revoked_at").Optional().Nillable(),
	}
}

// Indexes of Key.
func (Key) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("hash").Unique(),
		index.Fields("account_id", "id"),
		index.Fields("parent_id"),
	}
}
