package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// QuotaEntry is one tenant's use of the quota of a site. The quota is the operator's:
// all tenants share it. Belongs to the module quota.
type QuotaEntry struct{ ent.Schema }

// Fields of QuotaEntry.
func (QuotaEntry) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("plugin").Immutable(),
		field.Text("quota").Immutable(),
		field.Int64("account_id").Immutable().
			Comment("0 for the operator's own commands."),
		field.Text("item").Immutable().
			Comment("The thing that the units were spent on, if repeating it is free; else empty."),
		field.Int64("units").
			Comment("Granted."),
		field.Int64("asked").
			Comment("Requested, refused ones included."),
		field.Int64("asked_at"),
		field.Int64("ends_at").Immutable().
			Comment("The time from which the units no longer count."),
	}
}

// Indexes of QuotaEntry.
func (QuotaEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("plugin", "quota", "ends_at", "account_id", "item").Unique(),
		index.Fields("ends_at", "id"),
	}
}
