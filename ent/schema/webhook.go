package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Webhook is an address that receives an account's changes. Belongs to the module webhooks.
type Webhook struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Webhook) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Webhook.
func (Webhook) Fields() []ent.Field {
	return []ent.Field{
		field.Text("url"),
		field.Text("types").
			Comment("Kinds of changes that it receives, separated by spaces; empty for all."),
		field.Bytes("secret").
			Comment("Sealed."),
		field.Bytes("prior_secret").Optional().Nillable().
			Comment("Sealed; signs too until prior_until."),
		field.Int64("prior_until").Default(0),
		field.Text("status").
			Comment("`active`, `paused`, `failed` or `gone`."),
		field.Int64("cursor").
			Comment("Number of the last change that was delivered or left out."),
		field.Int("failures").Default(0).
			Comment("Failed attempts to deliver the change after the cursor."),
		field.Int64("next_at").
			Comment("Not before this time is it delivered to again."),
		field.Int64("turn").Default(0).
			Comment("Fencing number: only the worker of the newest turn moves the cursor."),
		field.Int64("lease_until").Default(0).
			Comment("Until then the worker of the turn delivers alone."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Webhook.
func (Webhook) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("status", "next_at"),
	}
}
