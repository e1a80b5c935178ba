package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SourceCount counts the observations that a library has of a source, so that no read counts their rows.
// Belongs to the module library.
type SourceCount struct{ ent.Schema }

// Mixin makes it tenant-private.
func (SourceCount) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of SourceCount.
func (SourceCount) Fields() []ent.Field {
	return []ent.Field{
		field.Text("source").Immutable().
			Comment("As observations have it in `stage`."),
		field.Int64("readings"),
	}
}

// Indexes of SourceCount.
func (SourceCount) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "source").Unique(),
	}
}
