package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Feed has the number of an account's last change. Its row is locked from there to the end of the transaction, so the order
// of the numbers is the order of the commits. The changes themselves are the table `changes`, which the migrations make by
// hand: its primary key is the account and the number. Both belong to the kernel's feed.
type Feed struct{ ent.Schema }

// Mixin makes it tenant-private.
func (Feed) Mixin() []ent.Mixin { return []ent.Mixin{Tenant{}} }

// Fields of Feed.
func (Feed) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("seq").
			Comment("Number of the last change."),
		field.Int64("floor").Default(0).
			Comment("Changes up to this number are deleted."),
		field.Int64("trim_at").
			Comment("When the oldest change may be deleted."),
	}
}

// Indexes of Feed.
func (Feed) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
		index.Fields("trim_at"),
	}
}
