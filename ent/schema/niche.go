package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Niche is one kind of videos of a tenant, by which those of creators with few videos are scored. Belongs to the
// module library.
type Niche struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Niche) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Niche.
func (Niche) Fields() []ent.Field {
	return []ent.Field{
		field.Text("kind").Immutable().
			Comment("As growth_kind of videos."),
		field.Int("dirty").Default(0).
			Comment("Counts the changes since the kind was scored; 0 for none."),
		field.Int64("dirty_from").Default(0).
			Comment("The oldest posting time of a changed video; the least number where one is unknown."),
		field.Bytes("standings").Optional().
			Comment("The creators with followers by where they stand, for early views: of each place the step of followers, of views, and their number; null if none was counted."),
	}
}

// Indexes of Niche.
func (Niche) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "kind").Unique(),
	}
}
