package app

import (
	"context"
	"fmt"
	"time"

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
}

func (o orders) do(ctx context.Context, order console.AccountOrder) (*accountPart, error) {
	ctx, cancel := context.WithTimeout(audit.As(context.WithoutCancel(ctx), audit.OperatorPage), orderWithin)
	defer cancel()
	if err := o.change(ctx, order); err != nil {
		return nil, err
	}
	a, err := o.accounts.Account(ctx, order.Account)
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
	return part, nil
}

func (o orders) change(ctx context.Context, order console.AccountOrder) (err error) {
	switch order.Do {
	case "":
	case "limits":
		_, err = o.accounts.LimitAccount(ctx, order.Account, order.Values)
	case "plan":
		if len(order.Values) != 1 {
			return fmt.Errorf("name one plan")
		}
		_, err = o.accounts.ChangePlan(ctx, order.Account, order.Values[0])
	case "block", "lift":
		err = o.accounts.BlockAccount(ctx, order.Account, order.Do == "lift")
	default:
		err = fmt.Errorf("%q is none of limits, plan, block and lift", order.Do)
	}
	return err
}
