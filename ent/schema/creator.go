package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Creator is a creator of videos in one tenant's library. Belongs to the module library.
type Creator struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Creator) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Creator.
func (Creator) Fields() []ent.Field {
	return []ent.Field{
		field.Text("platform").Immutable(),
		field.Text("key").Immutable().
			Comment("`id:` and the platform's creator id, else `handle:` and the folded handle without @."),
		field.Text("handle"),
		field.Int("dirty").Default(0).
			Comment("1 if a video of the creator changed after the last scoring."),
		field.Int64("followers").Optional().Nillable().
			Comment("As a source read them last; null if none did."),
		field.Int64("followers_at").Optional().Nillable().
			Comment("When they were read, Unix milliseconds."),
		field.Text("standings").Default("").
			Comment("Where it is counted in standings: kind, step of followers and of views with colons between, joined by commas."),
	}
}

// Indexes of Creator.
func (Creator) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "key").Unique(),
		index.Fields("account_id", "dirty", "id"),
	}
}
