package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RuleItem is one rule of the ruleset. Belongs to the module rules.
type RuleItem struct{ ent.Schema }

// Mixin makes it tenant-private.
func (RuleItem) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of RuleItem.
func (RuleItem) Fields() []ent.Field {
	return []ent.Field{
		field.Text("text").Immutable(),
		field.Int("position").
			Comment("Position in the ruleset in force."),
		field.Bool("archived").Default(false),
		field.Int64("archived_at").Optional().Nillable(),
		field.Int64("created_at").Immutable(),
		field.Int64("digest").Default(0).
			Comment("Digest of the text, to find it by; 0 in rows of earlier versions."),
	}
}

// Indexes of RuleItem.
func (RuleItem) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "archived", "position", "id"),
		index.Fields("account_id", "digest"),
	}
}
