package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Deletion is one request to delete a part of a library. Belongs to the module library.
type Deletion struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Deletion) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Deletion.
func (Deletion) Fields() []ent.Field {
	return []ent.Field{
		field.Text("status").
			Comment("`running`, `deleted`, `undoing` or `undone`."),
		field.Text("origin").Immutable().
			Comment("`customer` or `operator`."),
		field.Text("what").Immutable().
			Comment("`video`, `creator`, `import` or `source`."),
		field.Bytes("target").
			Comment("The sealed JSON of what it deletes; empty once it is done and can not be undone."),
		field.Int("videos").Default(0),
		field.Int("readings").Default(0),
		field.Int64("undo_until").Default(0).
			Comment("Until when it can be undone; 0 if it can not be."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Deletion.
func (Deletion) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("status", "undo_until", "id"),
	}
}
