package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// UnscoredLibrary is a library whose videos were deleted or brought back since it was scored. Belongs to the module library.
type UnscoredLibrary struct{ ent.Schema }

// Mixin makes it tenant-private.
func (UnscoredLibrary) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of UnscoredLibrary.
func (UnscoredLibrary) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("changes").Default(1).
			Comment("Counts the transactions since the library was scored."),
		field.Int64("wait_until").Default(0).
			Comment("While a deletion or a sweep goes on, the library is not scored before this time; 0 once it has ended."),
	}
}

// Indexes of UnscoredLibrary.
func (UnscoredLibrary) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
	}
}
