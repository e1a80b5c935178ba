package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SandboxCall is a call of the agent that has taken its fee and has not answered
// yet; gone when it has. Belongs to the module sandbox.
type SandboxCall struct{ ent.Schema }

// Mixin makes it tenant-private.
func (SandboxCall) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of SandboxCall.
func (SandboxCall) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("fee").Immutable().
			Comment("Credits to give back where no answer comes."),
		field.Int("runs").Default(0).
			Comment("Programs that were begun; the last of them may still run."),
		field.Int64("held").Default(0).
			Comment("Credits held for the program that runs, one a second that it has started."),
		field.Bool("ran").Default(false).
			Comment("Whether that program got as far as its first step."),
		field.Int64("beat_at").
			Comment("When its process was last heard of."),
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
