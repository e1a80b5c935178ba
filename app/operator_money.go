package app

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// shownEntries is how many movements and audit entries an account shows.
const shownEntries = 20

// asOperator returns a context that sees every tenant, and whose changes are
// audited as those of whoever runs the command.
func asOperator(ctx context.Context) context.Context {
	return audit.As(viewer.System(ctx), audit.Operator())
}

// AccountLine is an account as a list shows it.
type AccountLine struct {
	ID, Email, Plan, Interval, Status string
	Credits, Owed                     int64
	Created                           time.Time
}

// AccountReport is all that an operator may see of an account.
type AccountReport struct {
	AccountLine
	// PeriodEnd is zero where nobody has to pay.
	PeriodEnd time.Time
	Movements []credits.Entry
	Changes   []audit.Entry
}

// Accounts lists accounts, oldest first, from after the one of an id on.
func (o *Operator) Accounts(ctx context.Context, after string, limit int) ([]AccountLine, error) {
	from := int64(0)
	if after != "" {
		var ok bool
		if from, ok = publicid.Parse(publicid.Account, after); !ok {
			return nil, fmt.Errorf("%q is no id of an account", after)
		}
	}
	found, err := o.keys.Accounts(viewer.System(ctx), from, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]AccountLine, 0, len(found))
	for _, row := range found {
		line, _, err := o.line(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		line.Email, line.Created = row.Email, row.CreatedAt.UTC()
		lines = append(lines, line)
	}
	return lines, nil
}

func (o *Operator) line(ctx context.Context, account int64) (AccountLine, billing.Subscription, error) {
	sub, err := o.subs.Of(ctx, account)
	if err != nil {
		return AccountLine{}, sub, err
	}
	balance, err := o.credits.Balance(ctx, account)
	return AccountLine{
		ID: publicid.Format(publicid.Account, account), Plan: sub.Plan, Interval: sub.Interval, Status: sub.Status,
		Credits: balance.Credits, Owed: balance.Owed,
	}, sub, err
}

// Account shows the account of an id or an address.
func (o *Operator) Account(ctx context.Context, name string) (AccountReport, error) {
	account, err := o.named(ctx, name)
	if err != nil {
		return AccountReport{}, err
	}
	rows, err := o.keys.Accounts(viewer.System(ctx), account-1, 1)
	if err != nil {
		return AccountReport{}, err
	}
	if len(rows) == 0 || rows[0].ID != account {
		return AccountReport{}, fmt.Errorf("there is no account %s", name)
	}
	line, sub, err := o.line(ctx, account)
	if err != nil {
		return AccountReport{}, err
	}
	line.Email, line.Created = rows[0].Email, rows[0].CreatedAt.UTC()
	report := AccountReport{AccountLine: line, PeriodEnd: sub.PeriodEnd}
	if report.Movements, err = o.credits.Entries(ctx, account, shownEntries); err != nil {
		return report, err
	}
	report.Changes, err = audit.List(ctx, o.db, account, shownEntries)
	return report, err
}

// named finds an account by its id or its address.
func (o *Operator) named(ctx context.Context, name string) (int64, error) {
	if account, ok := publicid.Parse(publicid.Account, name); ok {
		return account, nil
	}
	account, ok, err := o.keys.AccountOf(viewer.System(ctx), name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no account %s", name)
	}
	return account, err
}

// GrantCredits gives an account credits. The same reference grants once; an empty
// one stands for a new one.
func (o *Operator) GrantCredits(ctx context.Context, name string, amount int64, reference string) (credits.Balance, error) {
	report, err := o.Account(ctx, name)
	if err != nil {
		return credits.Balance{}, err
	}
	account, _ := publicid.Parse(publicid.Account, report.ID)
	if reference == "" {
		reference = fmt.Sprint(o.db.NewID())
	}
	return o.credits.Grant(asOperator(ctx), account, amount, "grant:"+report.ID+":"+reference)
}

// SyncSubscriptions asks Stripe about every subscription that has not ended.
func (o *Operator) SyncSubscriptions(ctx context.Context) (billing.Synced, error) {
	return o.billing.SyncAll(ctx)
}

// SetUpBilling makes the products and prices of the plans in Stripe.
func (o *Operator) SetUpBilling(ctx context.Context) ([]string, error) { return o.billing.SetUp(ctx) }
