package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Observation has the counts of one video at one time; never changed. Belongs to the module library.
type Observation struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Observation) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Observation.
func (Observation) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("video_id").Immutable(),
		field.Int64("scroll_id").Immutable(),
		field.Text("stage").Immutable().
			Comment("The source that it came from; `import` for an import. Earlier versions wrote the step of the scroll, `archive` or `observe`."),
		field.Int64("views").Optional().Nillable().Immutable(),
		field.Int64("likes").Optional().Nillable().Immutable(),
		field.Int64("comments").Optional().Nillable().Immutable(),
		field.Int64("shares").Optional().Nillable().Immutable(),
		field.Int64("saves").Optional().Nillable().Immutable(),
		field.Int64("observed_at").Immutable(),
		field.Text("semantics").Default("").Immutable().
			Comment("What the source says its counts are: exact, rounded, lagged, paid_and_organic; empty if unknown."),
	}
}

// Indexes of Observation.
func (Observation) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "scroll_id", "video_id", "observed_at").Unique(),
		index.Fields("account_id", "video_id", "observed_at"),
		index.Fields("account_id", "stage", "observed_at", "video_id"),
	}
}
