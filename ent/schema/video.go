package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Video is the narrow row of a video: what lists filter and sort by. Belongs to the room library.
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
			Comment("canonicalId of the brief it was first gathered for."),
		field.Int64("scroll_id").Immutable(),
		field.Int64("posted_at").Optional().Nillable(),
		field.Int64("first_seen_at").Immutable(),
		field.Int64("last_seen_at"),
		field.Int64("views").Optional().Nillable(),
		field.Int64("likes").Optional().Nillable(),
		field.Int64("comments").Optional().Nillable(),
		field.Int64("shares").Optional().Nillable(),
		field.Int64("saves").Optional().Nillable(),
		field.Int64("observed_at").Optional().Nillable(),
		field.Int64("usable_views").Optional().Nillable().
			Comment("Views of the latest observation that scoring can use."),
		field.Int64("usable_at").Optional().Nillable(),
		field.Float("score").Default(0).
			Comment("Unrounded views ÷ baseline; 0 where there is none."),
		field.Float("baseline").Optional().Nillable(),
		field.Int("sample_count").Default(0),
		field.Int("listed").Default(0).
			Comment("1 where the score is above 1: an outlier."),
		field.Int("archived").Default(0).
			Comment("0 or 1; a number, so that an index range serves both."),
		field.Int("hook_archived").Default(0),
		field.Int("hook_version").Default(0),
		field.Int64("hook_at").Default(0).
			Comment("When the evidence last changed; 0 where there is none."),
	}
}

// Indexes of Video.
func (Video) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "external_id").Unique(),
		index.Fields("account_id", "creator_id", "posted_at", "id"),
		index.Fields("account_id", "platform", "posted_at", "id"),
	}
}
