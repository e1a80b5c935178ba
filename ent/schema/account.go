package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Account is a tenant: the paying customer. Belongs to the module keys.
type Account struct{ ent.Schema }

// Fields of Account.
func (Account) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("email").Optional().Nillable().
			Comment("Lower case; null until a checkout has reported it."),
		field.Int64("created_at").Immutable(),
		field.Int64("blocked_at").Optional().Nillable().
			Comment("When the operator blocked it: its keys are refused, and nothing of it starts."),
	}
}

// Indexes of Account.
func (Account) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("email", "id"),
	}
}
