package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookDelivery is one attempt to deliver one change. The answer's text is never stored. Belongs to the module webhooks.
type WebhookDelivery struct{ ent.Schema }

// Mixin makes it tenant-private.
func (WebhookDelivery) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("webhook_id").Immutable(),
		field.Text("message_id").Immutable().
			Comment("The header webhook-id: the id of the change, or of a test."),
		field.Text("kind").Immutable(),
		field.Int("attempt").Immutable().
			Comment("From 1."),
		field.Text("outcome").Immutable().
			Comment("`delivered`, `refused`, `redirected`, `timeout`, `unreachable`, `blocked` or `expired`."),
		field.Int("status_code").Default(0).Immutable().
			Comment("0 without an answer."),
		field.Int64("took").Immutable().
			Comment("Milliseconds."),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of WebhookDelivery.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "webhook_id", "id"),
	}
}
