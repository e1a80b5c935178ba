package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SandboxCall is a call of the agent that has been charged and is not answered yet;
// deleted with the answer. Belongs to the module sandbox.
type SandboxCall struct{ ent.Schema }

// Mixin makes it tenant-private.
func (SandboxCall) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of SandboxCall.
func (SandboxCall) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("fee").Immutable().
			Comment("Credits to refund if the call is not answered."),
		field.Int("runs").Default(0).
			Comment("Number of started programs; the last one may still run."),
		field.Int64("held").Default(0).
			Comment("Credits reserved for the running program, one for each started second."),
		field.Bool("ran").Default(false).
			Comment("Whether that program has reached its first step."),
		field.Int64("beat_at").
			Comment("Time of the last report of its process."),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of SandboxCall.
func (SandboxCall) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("beat_at", "id"),
	}
}

// Annotations of SandboxCall.
func (SandboxCall) Annotations() []schema.Annotation {
	return []schema.Annotation{
		entsql.Checks(map[string]string{"sandbox_call_held_not_negative": "held >= 0"}),
	}
}
