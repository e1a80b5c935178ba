package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Authorization is the way of one program to a session key, from the first form to the key. Belongs to the module oauth.
type Authorization struct{ ent.Schema }

// Fields of Authorization.
func (Authorization) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Bytes("secret_hash").
			Comment("SHA-256 of what continues it: the token of the form that is shown, later the code. Each step replaces it."),
		field.Text("step").
			Comment("`code`, `consent`, `granted` or `redeemed`: what comes next, or came last."),
		field.Text("email").
			Comment("Lower case; unknown addresses have rows too. Empty once a code was granted."),
		field.Text("client_id").Immutable().
			Comment("The address of the client's metadata document."),
		field.Text("redirect_uri").Immutable(),
		field.Text("state").Immutable().
			Comment("The client's own; it goes back with the code."),
		field.Text("scopes").
			Comment("Separated by spaces: what was asked for, and what was granted from then on."),
		field.Text("challenge").Immutable().
			Comment("PKCE, method S256."),
		field.Text("resource").Immutable().
			Comment("The resource that the client named, one of this server's."),
		field.Int64("account_id").Optional().Nillable().
			Comment("Null until a person has chosen it."),
		field.Int64("parent_id").Optional().Nillable().
			Comment("The lasting key that the session hangs on."),
		field.Int64("key_id").Optional().Nillable().
			Comment("The session key that the code was exchanged for."),
		field.Int64("created_at").Immutable(),
		field.Int64("verified_at").Optional().Nillable().
			Comment("When the mailed code was right."),
		field.Int64("expires_at").
			Comment("The end of the step; the end of the session key for `redeemed`."),
	}
}

// Indexes of Authorization.
func (Authorization) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("secret_hash").Unique(),
		index.Fields("account_id", "id"),
		index.Fields("expires_at"),
	}
}
