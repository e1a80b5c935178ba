package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Job is a queued piece of work of the embedded queue; PostgreSQL uses its own tables. Belongs to modules/kernel/store.
type Job struct{ ent.Schema }

// Fields of Job.
func (Job) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("kind").Immutable().
			Comment("A stable string, never the name of a Go type."),
		field.Text("args").Immutable(),
		field.Text("unique_key").Optional().Nillable().Immutable().
			Comment("At most one waiting or running job has it."),
		field.Int("attempt").Default(0),
		field.Int("max_attempts").Immutable(),
		field.Int64("run_at"),
		field.Int64("lease_until").Default(0).
			Comment("0 while no worker has it."),
		field.Text("last_error").Default(""),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of Job.
func (Job) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("unique_key").Unique(),
		index.Fields("kind", "run_at", "id"),
	}
}
