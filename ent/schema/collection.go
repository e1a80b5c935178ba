package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Collection is an ordered list of videos with a name. Belongs to the module collections.
type Collection struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Collection) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Collection.
func (Collection) Fields() []ent.Field {
	return []ent.Field{
		field.Text("name"),
		field.Text("note").Default(""),
		field.Int("videos").Default(0).
			Comment("How many videos it has."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Collection.
func (Collection) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "name").Unique(),
	}
}
