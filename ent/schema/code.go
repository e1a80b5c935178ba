package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Code is a one-time code for a lost key, of which only a hash is stored. Belongs to the module keys.
type Code struct{ ent.Schema }

// Fields of Code.
func (Code) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("email").Immutable().
			Comment("Lower case; unknown addresses have rows too, so that answers do not reveal which are known."),
		field.Int64("account_id").Optional().Nillable().Immutable().
			Comment("Null for an unknown address."),
		field.Bytes("hash").Immutable().
			Comment("HMAC-SHA-256 of the code under a salt of its own."),
		field.Bytes("salt").Immutable(),
		field.Int64("created_at").Immutable(),
		field.Int64("expires_at").Immutable(),
		field.Int("tries").Default(0),
		field.Int64("used_at").Optional().Nillable(),
	}
}

// Indexes of Code.
func (Code) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("email", "id"),
	}
}
