package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	entcheckout "github.com/scrollery/scrollery/ent/checkout"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

func (c checkouts) byPayment(ctx context.Context, payment string) (checkout, bool, error) {
	row, err := c.db.Ent().Checkout.Query().Where(entcheckout.Payment(payment)).Only(ctx)
	return read(row, err)
}

// mark keeps what the provider says of a checkout that has not ended.
func (c checkouts) mark(ctx context.Context, tx *store.Tx, id int64, payment Payment, at time.Time) error {
	from := []string{string(Open)}
	switch payment.State {
	case Open, Processing, Unknown:
		return nil
	case Cancelled: // also of a paid one that was given back before its claim
		from = append(from, string(Paid))
	}
	change := tx.Ent().Checkout.Update().
		Where(entcheckout.ID(id), entcheckout.StatusIn(from...)).
		SetStatus(string(payment.State)).SetUpdatedAt(at.UnixMilli())
	know(change, payment)
	return change.Exec(ctx)
}

// reverse keeps how much of the payment was given back. It never falls, so that
// answers may come in any order.
func (c checkouts) reverse(ctx context.Context, tx *store.Tx, id int64, reversal Reversal) error {
	rows := tx.Ent().Checkout
	err := errors.Join(
		rows.Update().Where(entcheckout.ID(id)).SetPayment(reversal.Payment).Exec(ctx),
		rows.Update().Where(entcheckout.ID(id), entcheckout.RefundedCentsLT(reversal.Refunded)).SetRefundedCents(reversal.Refunded).Exec(ctx),
		rows.Update().Where(entcheckout.ID(id), entcheckout.DisputedCentsLT(reversal.Disputed)).SetDisputedCents(reversal.Disputed).Exec(ctx),
	)
	if err != nil {
		return fmt.Errorf("reverse checkout %d: %w", id, err)
	}
	return nil
}

// waiting returns open checkouts that no one has looked at since a moment, the
// longest neglected first.
func (c checkouts) waiting(ctx context.Context, before time.Time, limit int) ([]checkout, error) {
	rows, err := c.db.Ent().Checkout.Query().
		Where(entcheckout.Status(string(Open)), entcheckout.UpdatedAtLT(before.UnixMilli())).
		Order(entcheckout.ByUpdatedAt(sql.OrderAsc()), entcheckout.ByID()).
		Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load waiting checkouts: %w", err)
	}
	out := make([]checkout, len(rows))
	for i, row := range rows {
		if out[i], _, err = read(row, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// touch says that the checkout was looked at.
func (c checkouts) touch(ctx context.Context, tx *store.Tx, id int64, at time.Time) error {
	return tx.Ent().Checkout.Update().Where(entcheckout.ID(id)).SetUpdatedAt(at.UnixMilli()).Exec(ctx)
}
