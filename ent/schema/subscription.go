package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Subscription is the plan of an account. Belongs to the module billing.
type Subscription struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Subscription) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Subscription.
func (Subscription) Fields() []ent.Field {
	return []ent.Field{
		field.Text("plan"),
		field.Text("interval"),
		field.Text("status").
			Comment("`active`, `past_due` or `cancelled`."),
		field.Int64("period_end").Optional().Nillable().
			Comment("Unix milliseconds; null for a complimentary account."),
		field.Text("external_id").Optional().Nillable().
			Comment("The provider's id; null for a complimentary account and in test checkout."),
		field.Text("limits").Optional().Nillable().
			Comment("What the operator set for this account instead of its plan's limits: `name=value`, separated by spaces; null for none."),
		field.Int64("synced").Default(0).
			Comment("Start of the request to the provider that returned this state, as an id: the answer to an older request changes nothing."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Subscription.
func (Subscription) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
		index.Fields("external_id"),
	}
}
