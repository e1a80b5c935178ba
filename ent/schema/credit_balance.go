package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CreditBalance is the sum of an account's credit entries. Belongs to the module credits.
type CreditBalance struct{ ent.Schema }

// Mixin makes it tenant-private.
func (CreditBalance) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of CreditBalance.
func (CreditBalance) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("balance").
			Comment("Sum of the entries."),
		field.Int64("held").Default(0).
			Comment("Credits of the balance that are reserved for calls in progress; a call becomes an entry when its cost is known."),
		field.Int64("owed").
			Comment("Credits that were reversed after they were spent."),
		field.Int64("updated_at"),
	}
}

// Indexes of CreditBalance.
func (CreditBalance) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
	}
}

// Annotations of CreditBalance: the database itself refuses a balance below zero.
func (CreditBalance) Annotations() []schema.Annotation {
	return []schema.Annotation{
		entsql.Checks(map[string]string{
			"credit_balance_not_negative": "balance >= 0",
			"credit_owed_not_negative":    "owed >= 0",
			"credit_held_is_there":        "held >= 0 AND held <= balance",
		}),
	}
}
