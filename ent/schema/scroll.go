package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Scroll is one research run. Belongs to the module scrolls.
type Scroll struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Scroll) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Scroll.
func (Scroll) Fields() []ent.Field {
	return []ent.Field{
		field.Text("status").
			Comment("`queued`, `running`, `completed`, `failed` or `cancelled`."),
		field.Text("stage").Optional().Nillable(),
		field.Text("progress").
			Comment("The JSON of Progress, without dispatchAttempts."),
		field.Int("new_videos").Default(0),
		field.Text("failure_code").Optional().Nillable(),
		field.Int("schedule").Optional().Nillable().Immutable(),
		field.Text("template").Optional().Nillable().Immutable(),
		field.Text("prompt").Optional().Nillable().Immutable(),
		field.Int("rules_version").Default(0),
		field.Text("subject").
			Comment("canonicalId of the workspace when the scroll began; empty if it had none."),
		field.Text("idempotency_key").Optional().Nillable().Immutable(),
		field.Int("attempt").Default(0).
			Comment("Starts so far; the fencing token of its worker."),
		field.Int64("heartbeat_at").Default(0).
			Comment("Time of its worker's last heartbeat."),
		field.Text("checkpoint").Default("").
			Comment("The last step that finished."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
		field.Int64("started_at").Optional().Nillable(),
		field.Int64("completed_at").Optional().Nillable(),
	}
}

// Indexes of Scroll.
func (Scroll) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "idempotency_key").Unique(),
		index.Fields("account_id", "status", "id"),
		index.Fields("account_id", "id"),
		index.Fields("status", "heartbeat_at", "id"),
	}
}
