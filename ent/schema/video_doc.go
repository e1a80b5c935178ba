package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// VideoDoc holds the rendered documents of a video, under the video's id. Belongs to the room library.
type VideoDoc struct{ ent.Schema }

// Mixin makes it tenant-private.
func (VideoDoc) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of VideoDoc.
func (VideoDoc) Fields() []ent.Field {
	return []ent.Field{
		field.Text("doc").
			Comment("The part of the Video's JSON that seldom changes, without the outer braces."),
		field.Text("source_url").
			Comment("Untrusted."),
		field.Text("source").Optional().Nillable(),
		field.Text("metadata"),
		field.Text("agent_metadata").Optional().Nillable(),
		field.Text("hook").Optional().Nillable().
			Comment("The evidence as rendered JSON members; null where there is none."),
		field.Text("visual").Optional().Nillable(),
		field.Text("spoken").Optional().Nillable(),
		field.Text("on_screen_text").Optional().Nillable(),
	}
}
