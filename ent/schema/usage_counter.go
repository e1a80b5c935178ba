package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// UsageCounter has the units that an account spent on one UTC day. Belongs to the module usage.
type UsageCounter struct{ ent.Schema }

// Mixin makes it tenant-private.
func (UsageCounter) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of UsageCounter.
func (UsageCounter) Fields() []ent.Field {
	return []ent.Field{
		field.Int("day").Immutable().
			Comment("YYYYMMDD."),
		field.Int64("units"),
	}
}

// Indexes of UsageCounter.
func (UsageCounter) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "day").Unique(),
	}
}
