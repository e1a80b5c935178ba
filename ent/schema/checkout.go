package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Checkout is a payment in progress. Belongs to the module billing.
type Checkout struct{ ent.Schema }

// Fields of Checkout.
func (Checkout) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Bytes("token_hash").Immutable().Optional().Nillable().
			Comment("SHA-256 of the claim token; null for a top-up."),
		field.Text("session").Immutable().
			Comment("The provider's session id."),
		field.Text("purpose").Immutable().
			Comment("`subscription`, `topup` or `signup`."),
		field.Text("plan").Immutable().
			Comment("`standard` or `pro`; empty for credits."),
		field.Text("interval").Immutable().
			Comment("`monthly` or `annual`; empty for credits."),
		field.Int64("amount_cents").Immutable().
			Comment("US cents."),
		field.Text("url"),
		field.Text("status").
			Comment("`open`, `paid`, `claimed`, `cancelled` or `expired`."),
		field.Text("email").Optional().Nillable(),
		field.Int64("account_id").Optional().Nillable().
			Comment("Set by the claim, or from the start for a top-up."),
		field.Text("payment").Optional().Nillable().
			Comment("The provider's id of a payment of credits, once it is known."),
		field.Text("external_id").Optional().Nillable().
			Comment("The provider's id of the subscription, once it is known."),
		field.Int64("refunded_cents").Default(0),
		field.Int64("disputed_cents").Default(0),
		field.Int64("reversed_cents").Default(0).
			Comment("Credits already reversed of the refunded or disputed amount."),
		field.Int64("created_at").Immutable(),
		field.Int64("expires_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Checkout.
func (Checkout) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("token_hash").Unique(),
		index.Fields("session").Unique(),
		index.Fields("account_id", "id"),
		index.Fields("payment"),
		index.Fields("external_id"),
	}
}
