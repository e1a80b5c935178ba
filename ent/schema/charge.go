package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Charge is a call that has been paid for and is not answered yet; deleted with the
// answer. Belongs to the module credits.
type Charge struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Charge) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Charge.
func (Charge) Fields() []ent.Field {
	return []ent.Field{
		field.Text("kind").Immutable().
			Comment("`agent` or `brief`; begins the references of its entries."),
		field.Int64("fee").Immutable().
			Comment("Credits to return if the call is not answered."),
		field.Int("runs").Default(0).
			Comment("Number of started programs; the last one may still run."),
		field.Int64("held").Default(0).
			Comment("Credits held for the running program, one for each started second."),
		field.Bool("ran").Default(false).
			Comment("Whether that program has reached its first step."),
		field.Int64("beat_at").
			Comment("Time of the last report of its process."),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of Charge.
func (Charge) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("beat_at", "id"),
	}
}

// Annotations of Charge.
func (Charge) Annotations() []schema.Annotation {
	return []schema.Annotation{
		entsql.Checks(map[string]string{"charge_held_not_negative": "held >= 0"}),
	}
}
