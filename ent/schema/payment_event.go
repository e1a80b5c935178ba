package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// PaymentEvent is an event of the payment provider that was applied. Belongs to
// the module billing.
type PaymentEvent struct{ ent.Schema }

// Fields of PaymentEvent.
func (PaymentEvent) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("event").Immutable().
			Comment("The provider's id of the event."),
		field.Text("kind").Immutable(),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of PaymentEvent.
func (PaymentEvent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("event").Unique(),
		index.Fields("created_at", "id"),
	}
}
