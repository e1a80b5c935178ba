package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// VideoKey says that a video carries a hashtag, sound, hook pattern or term. Belongs to the room library.
type VideoKey struct{ ent.Schema }

// Mixin makes it tenant-private.
func (VideoKey) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of VideoKey.
func (VideoKey) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("video_id").Immutable(),
		field.Text("key").Immutable(),
		field.Text("label").Immutable().
			Comment("The display form."),
	}
}

// Indexes of VideoKey.
func (VideoKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("video_id", "key").Unique(),
		index.Fields("account_id", "key", "video_id"),
	}
}
