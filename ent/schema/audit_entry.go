package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuditEntry records a change of money or keys and its author: written once, never changed.
// Belongs to the kernel's audit.
type AuditEntry struct{ ent.Schema }

// Mixin makes it tenant-private.
func (AuditEntry) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of AuditEntry.
func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.Text("actor").Immutable().
			Comment("`key:<id>`, `operator:<user>`, `payment`, `customer` or `service`."),
		field.Text("action").Immutable().
			Comment("`key.mint`, `credits.topup`, `subscription.active`, …"),
		field.Text("subject").Immutable().
			Comment("The changed object: the id of a key, the reference of a movement."),
		field.Text("detail").Immutable(),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of AuditEntry.
func (AuditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
	}
}
