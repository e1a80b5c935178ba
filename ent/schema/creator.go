package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Creator is the maker of videos, as one tenant met it. Belongs to the module library.
type Creator struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Creator) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Creator.
func (Creator) Fields() []ent.Field {
	return []ent.Field{
		field.Text("platform").Immutable(),
		field.Text("key").Immutable().
			Comment("The platform's creator id, else the case-folded handle without @."),
		field.Text("handle"),
		field.Int("dirty").Default(0).
			Comment("1 while a video of theirs changed after the last scoring."),
		field.Int("thin").Default(0).
			Comment("1 where some video of theirs has too few peers among the others."),
	}
}

// Indexes of Creator.
func (Creator) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "key").Unique(),
		index.Fields("account_id", "dirty", "id"),
		index.Fields("account_id", "platform", "thin", "id"),
	}
}
