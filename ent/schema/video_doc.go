package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// VideoDoc has the rendered documents of a video, with the video's id. Belongs to the module library.
type VideoDoc struct{ ent.Schema }

// Mixin makes it tenant-private.
func (VideoDoc) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of VideoDoc.
func (VideoDoc) Fields() []ent.Field {
	return []ent.Field{
		field.Text("doc").
			Comment("The Video's JSON; contains untrusted text."),
		field.Text("hook").Optional().Nillable().
			Comment("The evidence as rendered JSON members; null if there is none. Contains untrusted text."),
		field.Text("hook_text").Optional().Nillable().
			Comment("The hook in one sentence, of what is spoken; null if nothing is. Untrusted text."),
		field.Text("language").Optional().Nillable().
			Comment("The language of the speech, as en; null if unknown."),
		field.Text("keys").Default("").
			Comment("Trend keys, one per line: the key, a tab character, its label."),
	}
}
