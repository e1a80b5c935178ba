package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/operator"
)

// orderWithin bounds an order of the operator's page, which goes on where its reader leaves.
const orderWithin = 30 * time.Second

// orders does what the page of the operator has done with an account, as the commands do.
type orders struct{ accounts *operator.Service }

// accountPart is an account as the page shows it, without its address. Times are Unix
// milliseconds, 0 for none.
type accountPart struct {
	ID        string `json:"id"`
	Plan      string `json:"plan"`
	Interval  string `json:"interval"`
	Status    string `json:"status"`
	Limits    string `json:"limits"`
	Credits   int64  `json:"credits"`
	Owed      int64  `json:"owed"`
	CreatedAt int64  `json:"createdAt"`
	BlockedAt int64  `json:"blockedAt"`
	// LeavesAt is when its deletion begins.
	LeavesAt int64     `json:"leavesAt"`
	Keys     []keyPart `json:"keys"`
}

// keyPart is a key that opens an account. Session keys end by themselves.
type keyPart struct {
	ID        string `json:"id"`
	Hint      string `json:"hint"`
	Session   bool   `json:"session"`
	CreatedAt int64  `json:"createdAt"`
}

// begun is the context of an order.
func begun(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(audit.As(context.WithoutCancel(ctx), audit.OperatorPage), orderWithin)
}

func (o orders) do(ctx context.Context, order console.AccountOrder) (*accountPart, error) {
	ctx, cancel := begun(ctx)
	defer cancel()
	a, err := o.change(ctx, order)
	if err != nil {
		return nil, err
	}
	part := &accountPart{
		ID: a.ID, Plan: a.Plan, Interval: a.Interval, Status: a.Status, Limits: a.Limits,
		Credits: a.Credits, Owed: a.Owed, CreatedAt: a.Created.UnixMilli(),
	}
	if !a.Blocked.IsZero() {
		part.BlockedAt = a.Blocked.UnixMilli()
	}
	if !a.Leaves.IsZero() {
		part.LeavesAt = a.Leaves.UnixMilli()
	}
	keys, err := o.accounts.OpenKeys(ctx, a.ID)
	for _, key := range keys {
		part.Keys = append(part.Keys, keyPart{ID: key.ID, Hint: key.Hint, Session: key.State == "session", CreatedAt: key.Created.UnixMilli()})
	}
	return part, err
}

// scroll cancels a scroll of any account, or starts another one for the same, whose id it returns.
func (o orders) scroll(ctx context.Context, order console.ScrollOrder) (map[string]string, error) {
	ctx, cancel := begun(ctx)
	defer cancel()
	switch order.Do {
	case "cancel":
		return map[string]string{"scroll": order.Scroll}, o.accounts.CancelScroll(ctx, order.Scroll)
	case "retry":
		id, err := o.accounts.RetryScroll(ctx, order.Scroll)
		return map[string]string{"scroll": id}, err
	}
	return nil, fmt.Errorf("%.20q is neither cancel nor retry", order.Do)
}

// change returns the account as it is after the order.
func (o orders) change(ctx context.Context, order console.AccountOrder) (report operator.AccountReport, err error) {
	switch order.Do {
	case "":
	case "limits":
		return o.accounts.LimitAccount(ctx, order.Account, order.Values)
	case "plan":
		if len(order.Values) != 1 {
			return report, errors.New("name one plan")
		}
		return o.accounts.ChangePlan(ctx, order.Account, order.Values[0])
	case "grant", "take":
		if err := o.move(ctx, order); err != nil {
			return report, err
		}
	case "block", "lift":
		if err := o.accounts.BlockAccount(ctx, order.Account, order.Do == "lift"); err != nil {
			return report, err
		}
	case "revoke":
		if len(order.Values) != 1 {
			return report, errors.New("name one key")
		}
		if err := o.accounts.RevokeKeyOf(ctx, order.Account, order.Values[0]); err != nil {
			return report, err
		}
	case "delete", "keep":
		if _, err := o.accounts.DeleteAccount(ctx, order.Account, order.Do == "keep"); err != nil {
			return report, err
		}
	default:
		return report, fmt.Errorf("%.20q is none of limits, plan, grant, take, block, lift, revoke, delete and keep", order.Do)
	}
	return o.accounts.Account(ctx, order.Account)
}

// move grants or takes a number of credits under a reference, which moves them once.
func (o orders) move(ctx context.Context, order console.AccountOrder) error {
	if len(order.Values) != 2 || order.Values[1] == "" {
		return errors.New("name a number of credits and a reference")
	}
	amount, err := strconv.ParseInt(order.Values[0], 10, 64)
	if err != nil || amount < 1 || amount > credits.MaxMovement {
		return fmt.Errorf("%.20q is no number of credits from 1 to %d", order.Values[0], credits.MaxMovement)
	}
	change := o.accounts.GrantCredits
	if order.Do == "take" {
		change = o.accounts.TakeCredits
	}
	_, err = change(ctx, order.Account, amount, order.Values[1])
	return err
}
