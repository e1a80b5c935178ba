package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
)

// assignedID is the id of every entity. The application assigns it, so the
// database needs no counter: SQLite's would cost one more write for each insert.
func assignedID() ent.Field {
	incremental := false
	return field.Int64("id").Immutable().Annotations(entsql.Annotation{Incremental: &incremental})
}
