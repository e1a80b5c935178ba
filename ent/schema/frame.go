package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Frame is a small picture of the first seconds of a video. Belongs to the module library.
type Frame struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Frame) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Frame.
func (Frame) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("video_id").Immutable(),
		field.Int("place").Immutable().
			Comment("Its place among the frames of the video, from 0."),
		field.Int("at").Immutable().
			Comment("Milliseconds from the start of the video."),
		field.Bytes("webp").Immutable().
			Comment("The picture, without metadata: untrusted bytes whose header was checked."),
	}
}

// Indexes of Frame.
func (Frame) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "video_id", "place").Unique(),
		index.Fields("account_id", "place", "id"),
	}
}
