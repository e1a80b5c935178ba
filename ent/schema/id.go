package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
)

// assignedID is the id of every entity. The application assigns it, so the
// database keeps no counter: SQLite's would cost a write an insert.
func assignedID() ent.Field {
	incremental := false
	return field.Int64("id").Immutable().Annotations(entsql.Annotation{Incremental: &incremental})
}
