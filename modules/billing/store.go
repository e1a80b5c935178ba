package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/ent"
	entcheckout "github.com/scrollery/scrollery/ent/checkout"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// checkouts keeps the rows of checkouts. They belong to no tenant before they
// are claimed; the caller has the token or the session.
type checkouts struct{ db *store.DB }

func (c checkouts) bySession(ctx context.Context, session string) (checkout, bool, error) {
	return c.bySessionIn(ctx, c.db.Ent(), session)
}

func (c checkouts) bySessionIn(ctx context.Context, client *ent.Client, session string) (checkout, bool, error) {
	row, err := client.Checkout.Query().Where(entcheckout.Session(session)).Only(ctx)
	return read(row, err)
}

// byID loads a checkout that is there.
func (c checkouts) byID(ctx context.Context, client *ent.Client, id int64) (checkout, error) {
	found, ok, err := read(client.Checkout.Get(ctx, id))
	if err == nil && !ok {
		err = fmt.Errorf("checkout %d is gone", id)
	}
	return found, err
}

func (c checkouts) byToken(ctx context.Context, purpose string, hash []byte) (checkout, bool, error) {
	row, err := c.db.Ent().Checkout.Query().
		Where(entcheckout.TokenHash(hash), entcheckout.Purpose(purpose)).
		Only(ctx)
	return read(row, err)
}

func read(row *ent.Checkout, err error) (checkout, bool, error) {
	if ent.IsNotFound(err) {
		return checkout{}, false, nil
	}
	if err != nil {
		return checkout{}, false, fmt.Errorf("load checkout: %w", err)
	}
	out := checkout{
		id: row.ID, session: row.Session, purpose: row.Purpose, plan: row.Plan, interval: row.Interval, amountCents: row.AmountCents,
		state: State(row.Status), createdAt: time.UnixMilli(row.CreatedAt), expiresAt: time.UnixMilli(row.ExpiresAt),
	}
	if row.Email != nil {
		out.email = *row.Email
	}
	if row.AccountID != nil {
		out.accountID = *row.AccountID
	}
	if row.Payment != nil {
		out.payment = *row.Payment
	}
	out.refunded, out.disputed, out.reversed = row.RefundedCents, row.DisputedCents, row.ReversedCents
	return out, true, nil
}

// open writes a new checkout. accountID is 0 if the claim will open one, and
// tokenHash nil if there is nothing to claim.
func (c checkouts) open(ctx context.Context, id int64, order Order, session, url string, tokenHash []byte, accountID int64, at time.Time) error {
	err := c.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row := tx.Ent().Checkout.Create().
			SetID(id).SetSession(session).SetURL(url).
			SetPurpose(order.Purpose).SetPlan(order.Plan).SetInterval(order.Interval).
			SetAmountCents(order.AmountCents).SetStatus(string(Open)).
			SetCreatedAt(at.UnixMilli()).SetUpdatedAt(at.UnixMilli()).
			SetExpiresAt(order.ExpiresAt.UnixMilli())
		if tokenHash != nil {
			row.SetTokenHash(tokenHash)
		}
		if accountID != 0 {
			row.SetAccountID(accountID)
		}
		return row.Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("open checkout: %w", err)
	}
	return nil
}

// settle ends an open checkout that has not expired, or marks one as expired.
// done is false if it had ended before.
func (c checkouts) settle(ctx context.Context, id int64, state State, email string, at time.Time) (done bool, err error) {
	err = c.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		change := tx.Ent().Checkout.Update().
			Where(entcheckout.ID(id), entcheckout.Status(string(Open))).
			SetStatus(string(state)).SetUpdatedAt(at.UnixMilli())
		if state == Paid || state == Cancelled {
			change.Where(entcheckout.ExpiresAtGT(at.UnixMilli()))
		}
		if email != "" {
			change.SetEmail(email)
		}
		rows, err := change.Save(ctx)
		done = rows == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("settle checkout %d as %s: %w", id, state, err)
	}
	return done, nil
}

// take marks a checkout as claimed. Of all that race, one gets true: the others
// wait for its transaction, and see that the row has changed.
func (c checkouts) take(ctx context.Context, tx *store.Tx, id int64, payment Payment, at time.Time) (bool, error) {
	change := tx.Ent().Checkout.Update().
		Where(entcheckout.ID(id), entcheckout.StatusIn(string(Open), string(Paid))).
		SetStatus(string(Claimed)).SetUpdatedAt(at.UnixMilli())
	know(change, payment)
	rows, err := change.Save(ctx)
	return rows == 1, err
}

// know keeps what the provider answered about a payment.
func know(change *ent.CheckoutUpdate, payment Payment) {
	if payment.Email != "" {
		change.SetEmail(payment.Email)
	}
	if payment.ID != "" {
		change.SetPayment(payment.ID)
	}
	if payment.Subscription.ID != "" {
		change.SetExternalID(payment.Subscription.ID)
	}
}

// undo sets how much of what was undone was taken back.
func (c checkouts) undo(ctx context.Context, tx *store.Tx, id, cents int64) error {
	return tx.Ent().Checkout.UpdateOneID(id).SetReversedCents(cents).Exec(ctx)
}

// bind says whose the claimed checkout is.
func (c checkouts) bind(ctx context.Context, tx *store.Tx, id, accountID int64) error {
	return tx.Ent().Checkout.UpdateOneID(id).SetAccountID(accountID).Exec(ctx)
}

// sweep removes at most limit checkouts that ended unpaid before a moment.
func (c checkouts) sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	removed := 0
	err := c.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().Checkout.Query().
			Where(
				entcheckout.StatusIn(string(Open), string(Cancelled), string(Expired)),
				entcheckout.ExpiresAtLT(before.UnixMilli()),
			).
			Order(entcheckout.ByID()).Limit(limit).IDs(ctx)
		if err != nil || len(ids) == 0 {
			removed = 0
			return err
		}
		removed, err = tx.Ent().Checkout.Delete().
			Where(
				entcheckout.IDIn(ids...),
				entcheckout.StatusIn(string(Open), string(Cancelled), string(Expired)),
			).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old checkouts: %w", err)
	}
	return removed, nil
}
