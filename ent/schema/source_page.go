package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SourcePage is a public page of a site as a source last read it, for all accounts. It holds
// nothing of the account that it was read for. Belongs to the module sources.
type SourcePage struct{ ent.Schema }

// Fields of SourcePage.
func (SourcePage) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Text("plugin").Immutable(),
		field.Text("name").Immutable().
			Comment("The plugin's own name of the page."),
		field.Bytes("page").
			Comment("What the plugin keeps of it; empty before the first reading."),
		field.Int64("read_at").
			Comment("Unix milliseconds; 0 before the first reading."),
		field.Int64("claimed_until").
			Comment("Until when one call has the page to itself, to read it anew; 0 if none has."),
	}
}

// Indexes of SourcePage.
func (SourcePage) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("plugin", "name").Unique(),
		index.Fields("claimed_until", "id"),
	}
}
