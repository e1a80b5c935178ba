package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CollectionVideo is a video of a collection. Belongs to the module collections.
type CollectionVideo struct{ ent.Schema }

// Mixin makes it tenant-private.
func (CollectionVideo) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of CollectionVideo.
func (CollectionVideo) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("collection_id").Immutable(),
		field.Int64("video_id").Immutable(),
		field.Int64("position").
			Comment("Sort key, with room between two, so that a move writes one row."),
		field.Text("note").Default(""),
		field.Int64("added_at").Immutable(),
	}
}

// Indexes of CollectionVideo.
func (CollectionVideo) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "collection_id", "video_id").Unique(),
		index.Fields("account_id", "collection_id", "position"),
		index.Fields("account_id", "video_id", "collection_id"),
	}
}
