package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Code is a one-time code for a lost key or for a sign-in, of which only a hash is stored. Belongs to the module keys.
type Code struct{ ent.Schema }

// Fields of Code.
func (Code) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("email").Immutable().
			Comment("Lower case; unknown addresses have rows too, so that answers do not reveal which are known."),
		field.Text("purpose").Optional().Nillable().Immutable().
			Comment("`sign_in`, or null for a lost key: a code of one is none of the other."),
		field.Int64("account_id").Optional().Nillable().Immutable().
			Comment("Null for an unknown address."),
		field.Bytes("hash").Immutable().
			Comment("HMAC-SHA-256 of the code under a salt of its own."),
		field.Bytes("salt").Immutable(),
		field.Int64("created_at").Immutable(),
		field.Int64("expires_at").
			Comment("Later requests beyond the mails of an hour postpone it."),
		field.Int("tries").Default(0).
			Comment("Wrong and right ones, by every client."),
		field.Int64("used_at").Optional().Nillable(),
		field.Bytes("askers").Optional().
			Comment("For each try, 8 bytes of a salted hash of the client's address."),
		field.Bytes("link_hash").Optional().Immutable().
			Comment("SHA-256 of the token in the mailed link."),
		field.Int64("link_expires_at").Optional().Nillable(),
	}
}

// Indexes of Code.
func (Code) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("email", "id"),
		index.Fields("link_hash").Unique(),
	}
}
