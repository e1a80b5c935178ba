package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// LibraryRun is what a scored scroll observed, so that a trend window finds its scrolls. Belongs to the module library.
type LibraryRun struct{ ent.Schema }

// Mixin makes it tenant-private.
func (LibraryRun) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of LibraryRun.
func (LibraryRun) Fields() []ent.Field {
	return []ent.Field{
		field.Text("subject").Immutable(),
		field.Int64("scroll_id").Immutable(),
		field.Int64("first_at").
			Comment("Its oldest observation."),
		field.Int64("last_at").
			Comment("Its newest observation."),
		field.Int64("usable_at").Optional().Nillable().
			Comment("Its newest observation that scoring can use."),
		field.Int64("repeats").Optional().Nillable().
			Comment("Its observations of videos that another scroll collected first: no more of its videos can have a multiple. Null in what an earlier version saved."),
	}
}

// Indexes of LibraryRun.
func (LibraryRun) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "scroll_id").Unique(),
		index.Fields("account_id", "subject", "last_at"),
	}
}
