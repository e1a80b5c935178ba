package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AccountSource is what an account set for a source by itself: its own keys and settings.
// Belongs to the module sources.
type AccountSource struct{ ent.Schema }

// Mixin makes it tenant-private.
func (AccountSource) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of AccountSource.
func (AccountSource) Fields() []ent.Field {
	return []ent.Field{
		field.Text("source").Immutable().
			Comment("Id of the plugin."),
		field.Bytes("secrets").
			Comment("Sealed: the secrets by name, and what the source renewed of them."),
		field.Text("hints").
			Comment("JSON: the last characters of each secret by its name, empty for a short one."),
		field.Text("settings").
			Comment("JSON: settings by name."),
		field.Int64("created_at").Immutable(),
		field.Int64("updated_at"),
	}
}

// Indexes of AccountSource.
func (AccountSource) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "source").Unique(),
	}
}
