package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RemovalFile is how far the database knows a file of the log of removals. A database that was restored from an older copy knows
// less of it than the file has. Belongs to the kernel's removals.
type RemovalFile struct{ ent.Schema }

// Fields of RemovalFile.
func (RemovalFile) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("name").Immutable().
			Comment("The random name in the first line of the file."),
		field.Int64("position").
			Comment("In bytes: all before it has been done in this database."),
	}
}

// Indexes of RemovalFile.
func (RemovalFile) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("name").Unique(),
	}
}
