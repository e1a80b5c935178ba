package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// UsageEvent is one call of an operation. Belongs to the module usage.
type UsageEvent struct{ ent.Schema }

// Fields of UsageEvent.
func (UsageEvent) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Int64("account_id").Optional().Nillable().Immutable().
			Comment("Null for a public call without a key."),
		field.Int64("key_id").Optional().Nillable().Immutable(),
		field.Text("op").Immutable(),
		field.Text("status").Immutable(),
		field.Int64("cost_cents").Immutable().
			Comment("Internal ledger value."),
		field.Int64("ts").Immutable(),
		field.Int64("count").Optional().Nillable().Immutable().
			Comment("Of a sum of like events, how many; null for a single event."),
	}
}

// Indexes of UsageEvent.
func (UsageEvent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("key_id", "id"),
	}
}
