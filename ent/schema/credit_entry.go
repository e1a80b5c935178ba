package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CreditEntry is one movement of an account's credits: written once, never
// changed. Belongs to the module credits.
type CreditEntry struct{ ent.Schema }

// Mixin makes it tenant-private.
func (CreditEntry) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of CreditEntry.
func (CreditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("amount").Immutable().
			Comment("Change of the balance."),
		field.Int64("owed").Immutable().
			Comment("Change of the account's debt."),
		field.Int64("balance").Immutable().
			Comment("The balance afterwards."),
		field.Text("reason").Immutable().
			Comment("`topup`, `signup`, `grant`, `fee`, `run`, `return`, `reversal` or `owed`."),
		field.Text("reference").Immutable().
			Comment("Unique name of the movement: repeating a movement with the same name has no effect."),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of CreditEntry.
func (CreditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("reference").Unique(),
		index.Fields("account_id", "id"),
	}
}
