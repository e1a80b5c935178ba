package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// VideoDoc holds the rendered documents of a video, under the video's id. Belongs to the module library.
type VideoDoc struct{ ent.Schema }

// Mixin makes it tenant-private.
func (VideoDoc) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of VideoDoc.
func (VideoDoc) Fields() []ent.Field {
	return []ent.Field{
		field.Text("doc").
			Comment("The Video's JSON; untrusted inside."),
		field.Text("hook").Optional().Nillable().
			Comment("The evidence as rendered JSON members; null where there is none. Untrusted inside."),
		field.Text("keys").Default("").
			Comment("Trend keys, a line each: the key, a tab, its label."),
	}
}
