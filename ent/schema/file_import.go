package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// FileImport is a file that a customer imports. Belongs to the module imports.
type FileImport struct{ ent.Schema }

// Mixin makes it tenant-private.
func (FileImport) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Annotations of FileImport: `import` is a word of Go, so the table alone has the plain name.
func (FileImport) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "imports"}}
}

// Fields of FileImport.
func (FileImport) Fields() []ent.Field {
	return []ent.Field{
		field.Text("status").
			Comment("`queued`, `reading`, `running`, `completed`, `failed`, `undoing` or `undone`."),
		field.Text("name").Immutable().
			Comment("Name of the file; empty if none was sent."),
		field.Int64("bytes").Immutable(),
		field.Text("options").Immutable().
			Comment("JSON: the column map, the format and the time of observation."),
		field.Text("idempotency_key").Optional().Nillable().Immutable(),
		field.Text("report").Default("").
			Comment("JSON: what was understood of the file, its days and their scrolls; empty until it was read."),
		field.Int64("scroll_id").Default(0).
			Comment("The run that is queued or running, or the last one; 0 before the first."),
		field.Text("failure").Optional().Nillable().
			Comment("Why it failed, in words for its tenant."),
		field.Int("attempt").Default(0).
			Comment("Times that the file was begun to be read; the fencing token of the reading."),
		field.Int64("heartbeat_at").Default(0),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
		field.Int64("completed_at").Optional().Nillable(),
	}
}

// Indexes of FileImport.
func (FileImport) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "idempotency_key").Unique(),
		index.Fields("account_id", "id"),
		index.Fields("account_id", "scroll_id"),
		index.Fields("status", "heartbeat_at", "id"),
	}
}
