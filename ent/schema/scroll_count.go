package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ScrollCount counts the completed scrolls of a subject, so that no read looks at their rows.
// Belongs to the module scrolls.
type ScrollCount struct{ ent.Schema }

// Mixin makes it tenant-private.
func (ScrollCount) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of ScrollCount.
func (ScrollCount) Fields() []ent.Field {
	return []ent.Field{
		field.Text("subject").Immutable().
			Comment("canonicalId of the workspace; empty for none."),
		field.Int("completed").
			Comment("All that are completed."),
		field.Int("runs").
			Comment("Those of them that the tenant or their schedule started."),
	}
}

// Indexes of ScrollCount.
func (ScrollCount) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "subject").Unique(),
	}
}
