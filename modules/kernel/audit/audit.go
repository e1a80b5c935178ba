// Package audit keeps who changed money or keys, what, and when. Entries are
// written in the transaction of the change, and never changed; they are removed with
// their account alone.
package audit

import (
	"context"
	"fmt"
	"os/user"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent/auditentry"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Actors that are no key and no operator.
const (
	// Payment is the payment provider, by a notice or when it was asked.
	Payment = "payment"
	// Customer is a person without a key who has proved something: a payment, or
	// that they read the mail of an address.
	Customer = "customer"
	// Service is the service itself, without an order.
	Service = "service"
	// OperatorPage is who is signed in to the page of the operator.
	OperatorPage = "operator_page"
)

// Entry is one change.
type Entry struct {
	AccountID int64
	// Actor did it; empty stands for the viewer of the context.
	Actor string
	// Action is `key.mint`, `credits.grant`, and so on.
	Action string
	// Subject is what was changed: the id of a key, the reference of a movement.
	Subject string
	// Detail is for people. It holds no secret.
	Detail string
	// At is set by Write.
	At time.Time
}

type actorKey struct{}

// As returns a context whose changes are the actor's.
func As(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// AsCustomer is As(Customer), unless a key asks.
func AsCustomer(ctx context.Context) context.Context {
	if who := viewer.FromContext(ctx); who != nil && who.KeyID != 0 {
		return ctx
	}
	return As(ctx, Customer)
}

// List returns the newest entries of an account.
func List(ctx context.Context, db *store.DB, accountID int64, limit int) ([]Entry, error) {
	rows, err := db.Ent().AuditEntry.Query().
		Where(auditentry.AccountID(accountID)).
		Order(auditentry.ByID(sql.OrderDesc())).
		Limit(limit).
		All(viewer.As(ctx, accountID))
	if err != nil {
		return nil, fmt.Errorf("load audit entries of %d: %w", accountID, err)
	}
	out := make([]Entry, len(rows))
	for i, row := range rows {
		out[i] = Entry{
			AccountID: accountID, Actor: row.Actor, Action: row.Action, Subject: row.Subject,
			Detail: row.Detail, At: time.UnixMilli(row.CreatedAt),
		}
	}
	return out, nil
}

// Operator names the actor of the context, else the user who runs a command on this machine.
func Operator(ctx context.Context) string {
	if named, ok := ctx.Value(actorKey{}).(string); ok {
		return named
	}
	who, err := user.Current()
	if err != nil {
		return "operator"
	}
	return "operator:" + who.Username
}

// Write adds an entry of now to the open transaction.
func Write(ctx context.Context, tx *store.Tx, id int64, entry Entry) error {
	entry.At = time.Now()
	return WriteAt(ctx, tx, id, entry)
}

// WriteAt adds an entry of its own time, of what a database that was restored does not know.
func WriteAt(ctx context.Context, tx *store.Tx, id int64, entry Entry) error {
	if entry.Actor == "" {
		entry.Actor = actor(ctx)
	}
	err := tx.Ent().AuditEntry.Create().
		SetID(id).SetAccountID(entry.AccountID).
		SetActor(entry.Actor).SetAction(entry.Action).SetSubject(entry.Subject).SetDetail(entry.Detail).
		SetCreatedAt(entry.At.UnixMilli()).
		Exec(viewer.As(ctx, entry.AccountID))
	if err != nil {
		return fmt.Errorf("audit %s of %d: %w", entry.Action, entry.AccountID, err)
	}
	return nil
}

// actor is who asks: a named one, the key of the call, or the service.
func actor(ctx context.Context) string {
	if named, ok := ctx.Value(actorKey{}).(string); ok {
		return named
	}
	if who := viewer.FromContext(ctx); who != nil && who.KeyID != 0 {
		return "key:" + publicid.Format(publicid.Key, who.KeyID)
	}
	return Service
}
