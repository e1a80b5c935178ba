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
// list is a few ranges of one index, a page token is a key, and ties cost nothing.
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
		field.Text("growth_kind").Default("").
			Comment("What it competes with: the platform, on YouTube with a length; empty until it is worked out."),
		field.Int64("duration").Optional().Nillable().
			Comment("Milliseconds; null where unknown."),
		field.Text("handle").Default("").
			Comment("The creator's last handle, without @ and folded; empty where unknown."),
		field.Int("handle_only").Default(0).
			Comment("1 where no creator id was given, so that creator_id follows from the handle."),
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
		field.Int64("usable_likes").Optional().Nillable().
			Comment("Likes of the same observation; null where not given."),
		field.Int("peers").Default(0).
			Comment("The creator's own peers, at most 30, whatever the baseline is made of."),
		field.Int64("own_views").Default(0).
			Comment("The most expected views of an own peer where there are one or two; else 0."),
		field.Int("by_niche").Default(0).
			Comment("1 where the baseline comes from the niche, as the creator has fewer than three peers; 2 until it is worked out."),
		field.Int64("early").Default(0).
			Comment("What it would usually have where there are one or two own peers and followers are known; else 0."),
		field.Int64("alike").Default(0).
			Comment("What creators of as many followers usually have on a grown-up video, as early has it; 0 where early is."),
		field.Int("alike_creators").Default(0).
			Comment("The number of these creators."),
		field.Int64("twice_baseline").Default(0).
			Comment("Twice baselineViews, so that it is whole; 0 without a score."),
		field.Int("sample_count").Default(0),
		field.Int("doubtful").Default(0).
			Comment("1 where the views look bought."),
		field.Float("score").Default(0).
			Comment("With 4 decimals; 0 without a score."),
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
			Comment("0, or 1 for a repetition; when the evidence last changed, newest first, then id; null without evidence."),
		field.Int64("hook_changed_at").Default(0).
			Comment("When the evidence last changed; 0 without evidence."),
		field.Text("opening").Default("").
			Comment("The first 20 letters and digits of the evidence; empty where there are fewer."),
		field.Int64("outlier_since").Optional().Nillable().
			Comment("Time of the reading with which it first was an outlier; kept when it is none any more."),
		field.Int64("outlier_week").Default(0).
			Comment("The whole weeks since 1970 of outlier_since."),
		field.Int64("posted_week").Default(0).
			Comment("The whole weeks since 1970 of posted_at."),
		field.Bytes("rising_order").Optional().Nillable().
			Comment("0, or 1 if the views look bought; views at 7 days, highest first, then id; null if it was older at its newest usable reading."),
		field.Bytes("outlier_order").Optional().Nillable().
			Comment("The outlier's sort key of 49 bytes; then twice the baseline and the samples, for show. Null unless listed."),
	}
}

// Indexes of Video.
func (Video) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "platform", "external_id").Unique(),
		index.Fields("account_id", "creator_id", "opening"),
		index.Fields("account_id", "platform", "handle", "handle_only", "creator_id"),
		index.Fields("account_id", "growth_kind", "posted_at", "id").
			Annotations(entsql.DescColumns("posted_at")),
		index.Fields("account_id", "growth_kind", "by_niche", "posted_at", "id"),
		index.Fields("account_id", "hook_hidden", "hook_order"),
		index.Fields("account_id", "archived", "kind", "outlier_order"),
		index.Fields("account_id", "archived", "kind", "outlier_week", "outlier_order").StorageKey("video_new"), // named in statements
		index.Fields("account_id", "archived", "kind", "posted_week", "rising_order").StorageKey("video_rising"),
		index.Fields("account_id", "archived", "kind", "seen_order"),
		index.Fields("account_id", "archived", "platform", "kind", "seen_order"),
	}
}
