package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Video is the narrow row of a video, with the columns that lists filter and sort by. Belongs to the module library.
//
// The three orders are sort keys of bytes, unique because they end in the id: a
// list is one range of one index, a page token is a key, and ties cost nothing.
type Video struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Video) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Video.
func (Video) Fields() []ent.Field {
	return []ent.Field{
		field.Text("platform").Immutable(),
		field.Text("external_id").Immutable(),
		field.Int64("creator_id").Optional().Nillable(),
		field.Text("kind").Default("").
			Comment("`own`, `competitor`, `niche` or empty."),
		field.Text("subject").Immutable().
			Comment("canonicalId of the brief for which it was first collected."),
		field.Int64("scroll_id").Immutable().
			Comment("The scroll that first collected it."),
		field.Int64("posted_at").Optional().Nillable(),
		field.Int64("first_seen_at").Immutable(),
		field.Int64("observed_at").
			Comment("Time of the newest observation."),
		field.Int64("gone_at").Optional().Nillable().
			Comment("Time when the platform first reported that it is gone; null if it is not gone."),
		field.Int64("usable_views").Optional().Nillable().
			Comment("Views of the newest observation that scoring can use."),
		field.Int64("usable_at").Optional().Nillable(),
		field.Int64("digest").
			Comment("Digest of the last record without its counts; if it is the same, no document changes."),
		field.Int("archived").Default(0).
			Comment("0 or 1; a number, so that one index range can cover both."),
		field.Int("hook_archived").Default(0),
		field.Int("hook_hidden").Default(0).
			Comment("1 if the video or its hook is archived."),
		field.Bytes("seen_order").Immutable().
			Comment("firstSeenAt, newest first, then id."),
		field.Bytes("hook_order").Optional().Nillable().
			Comment("When the evidence last changed, newest first, then id; null without evidence."),
		field.Bytes("outlier_order").Optional().Nillable().
			Comment("Score, views, observedAt, highest first, then id; then baseline and peers, for display. Null unless an outlier."),
	}
}

// Indexes of Video.
func (Video) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "external_id").Unique(),
		index.Fields("account_id", "creator_id"),
		index.Fields("account_id", "platform", "posted_at", "id").
			Annotations(entsql.DescColumns("posted_at")),
		index.Fields("account_id", "hook_hidden", "hook_order"),
		index.Fields("account_id", "archived", "outlier_order"),
		index.Fields("account_id", "archived", "kind", "outlier_order"),
		index.Fields("account_id", "archived", "kind", "seen_order"),
		index.Fields("account_id", "archived", "platform", "kind", "seen_order"),
	}
}
