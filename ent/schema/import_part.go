package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ImportPart is a part of a file that is being imported, or of the readings that were found
// in it; deleted when the import ends. Belongs to the module imports.
type ImportPart struct{ ent.Schema }

// Mixin makes it tenant-private.
func (ImportPart) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of ImportPart.
func (ImportPart) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("import_id").Immutable(),
		field.Int("run").Immutable().
			Comment("The run that has the readings, from 0; -1 for a part of the file."),
		field.Int("number").Immutable().
			Comment("From 0."),
		field.Bytes("data").Immutable().
			Comment("A part of the file, or packed readings."),
		field.Int64("created_at").Immutable(),
	}
}

// Indexes of ImportPart.
func (ImportPart) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "import_id", "run", "number").Unique(),
		index.Fields("created_at", "id"),
	}
}
