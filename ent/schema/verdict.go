package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Verdict is the last decision of the screens on a video, kept or dropped. Belongs to the module scrolls.
type Verdict struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Verdict) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Verdict.
func (Verdict) Fields() []ent.Field {
	return []ent.Field{
		field.Text("platform").Immutable(),
		field.Text("external_id").Immutable(),
		field.Int64("scroll_id").
			Comment("The scroll of the verdict."),
		field.Bool("dropped").Default(false),
		field.Text("dropped_by").Default("").
			Comment("The text of the rule that dropped it; empty if it was kept."),
		field.Text("rule_id").Default("").
			Comment("The public id of that rule; empty for the prompt, or if unknown."),
		field.Float("rank").Default(0),
		field.Text("reason").Default(""),
		field.Int64("judged_at"),
		field.Text("basis").Optional().Nillable().
			Comment("A hash of all that the screens that look at evidence dropped it by, besides itself; null for other verdicts."),
	}
}

// Indexes of Verdict.
func (Verdict) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "external_id").Unique(),
		index.Fields("account_id", "scroll_id", "id"),
		index.Fields("account_id", "id"),
		index.Fields("dropped", "judged_at", "id"),
	}
}
