package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// RemovalLine is a line for the log of removals, which is kept apart from the database. It goes once the file has it. It names
// no one: accounts, creators and videos are in it as hashes with the server's key. Belongs to the kernel's removals.
type RemovalLine struct{ ent.Schema }

// Fields of RemovalLine.
func (RemovalLine) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("line").Immutable(),
	}
}
