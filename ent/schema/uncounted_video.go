package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// UncountedVideo is a video that was archived or restored since trends were last counted.
// They are counted before trends are shown. Belongs to the module library.
type UncountedVideo struct{ ent.Schema }

// Mixin makes it tenant-private.
func (UncountedVideo) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of UncountedVideo.
func (UncountedVideo) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("video_id").Immutable().
			Comment("0 where so many changed that all trends are measured again."),
	}
}

// Indexes of UncountedVideo.
func (UncountedVideo) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
	}
}
