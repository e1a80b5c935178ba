package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SandboxFile is a file of an account's sandbox on PostgreSQL; with SQLite, files are in the data folder. Belongs to the module sandbox.
type SandboxFile struct{ ent.Schema }

// Mixin makes it tenant-private.
func (SandboxFile) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of SandboxFile.
func (SandboxFile) Fields() []ent.Field {
	return []ent.Field{
		field.Text("path").Immutable().
			Comment("Relative, with slashes between its parts."),
		field.Bytes("data").
			Comment("Untrusted. Programs may store bytes that are not UTF-8."),
		field.Int64("size").
			Comment("The length of data in bytes, so that the quota is checked without reading data."),
	}
}

// Indexes of SandboxFile.
func (SandboxFile) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "path").Unique(),
	}
}

// Annotations of SandboxFile.
func (SandboxFile) Annotations() []schema.Annotation {
	return []schema.Annotation{
		entsql.Checks(map[string]string{"sandbox_file_size_of_data": "size = length(data)"}),
	}
}
