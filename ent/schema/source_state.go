package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SourceState is what a source keeps of a seed for its next run, such as a cursor. Belongs to the
// module scrolls.
type SourceState struct{ ent.Schema }

// Mixin makes it tenant-private.
func (SourceState) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of SourceState.
func (SourceState) Fields() []ent.Field {
	return []ent.Field{
		field.Text("plugin").Immutable().
			Comment("Id of the source; another name with secrets of the account."),
		field.Text("seed").Immutable().
			Comment("Kind, platform and text of the seed: `competitor/tiktok/@handle`, `niche//#term`, in lower case."),
		field.Int64("scroll_id").
			Comment("The running scroll that kept it, whose videos are not archived yet; 0 once they are."),
		field.Bytes("state").
			Comment("Opaque, at most 64 KiB. Empty drops, and is there only until the videos are archived."),
		field.Int64("kept_at").
			Comment("Unix milliseconds."),
	}
}

// Indexes of SourceState.
func (SourceState) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "plugin", "seed", "scroll_id").Unique(),
		index.Fields("account_id", "scroll_id", "id"),
		index.Fields("account_id", "plugin", "scroll_id", "kept_at", "id"),
	}
}
