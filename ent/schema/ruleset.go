package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Ruleset is one version of a tenant's rules. Belongs to the module rules.
type Ruleset struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Ruleset) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Ruleset.
func (Ruleset) Fields() []ent.Field {
	return []ent.Field{
		field.Int("version").Immutable(),
		field.Text("text").Immutable().
			Comment("Empty where it is packed."),
		field.Bytes("packed").Optional().
			Comment("The text of a version that is not in force any more, see package deflate."),
		field.Int64("created_at").Immutable(),
		field.Int("archived_items").Optional().Nillable().Immutable().
			Comment("How many archived items there are beside this version; null in rows of earlier versions."),
	}
}

// Indexes of Ruleset.
func (Ruleset) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "version").Unique(),
	}
}
