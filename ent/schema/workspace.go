package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Workspace is a tenant's research brief. Belongs to the module workspace.
type Workspace struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Workspace) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Workspace.
func (Workspace) Fields() []ent.Field {
	return []ent.Field{
		field.Text("description").Optional().Nillable(),
		field.Text("website").Optional().Nillable(),
		field.Text("app_store_url").Optional().Nillable(),
		field.Text("competitors").
			Comment("A JSON array of strings."),
		field.Text("subject_type").Optional().Nillable(),
		field.Text("subject_url").Optional().Nillable(),
		field.Text("canonical_id").Optional().Nillable(),
		field.Text("name").Optional().Nillable(),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of Workspace.
func (Workspace) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
	}
}
