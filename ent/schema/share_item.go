package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ShareItem is a part of a frozen page, in their order by id: a video or a sentence. One that rests on several videos has
// a row for each, with the same position. Belongs to the module shares.
type ShareItem struct{ ent.Schema }

// Mixin makes it tenant-private.
func (ShareItem) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of ShareItem.
func (ShareItem) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("share_id").Immutable(),
		field.Int("position").Immutable(),
		field.Int64("video_id").Immutable().
			Comment("The part goes when this video is deleted; 0 for none."),
		field.Text("doc").Immutable().
			Comment("JSON of what the page shows; empty but in the first row of a part."),
	}
}

// Indexes of ShareItem.
func (ShareItem) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "share_id", "position"),
		index.Fields("account_id", "video_id", "share_id", "position"),
	}
}
