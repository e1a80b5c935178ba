package operator

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// shownEntries is how many movements and audit entries an account shows, and how many accounts an
// address.
const shownEntries = 20

// asOperator returns a context that sees every tenant; its changes are audited as
// those of the system user who runs the command, or of the page.
func asOperator(ctx context.Context) context.Context {
	return audit.As(viewer.System(ctx), audit.Operator(ctx))
}

// AccountLine is an account as a list shows it.
type AccountLine struct {
	ID, Email, Plan, Interval, Status string
	Credits, Owed                     int64
	Created                           time.Time
	// Blocked is zero for an account that is not blocked.
	Blocked time.Time
}

// AccountReport is all that an operator may see of an account.
type AccountReport struct {
	AccountLine
	// PeriodEnd is zero for an account that does not pay.
	PeriodEnd time.Time
	// Leaves is when its deletion begins; zero if none is ordered.
	Leaves time.Time
	// Limits are its own instead of its plan's, as `name=value` separated by spaces.
	Limits    string
	Movements []Movement
	Changes   []audit.Entry
}

// Accounts lists at most limit accounts, oldest first, after the one with an id.
func (s *Service) Accounts(ctx context.Context, after string, limit int) ([]AccountLine, error) {
	from := int64(0)
	if after != "" {
		var ok bool
		if from, ok = publicid.Parse(publicid.Account, after); !ok {
			return nil, fmt.Errorf("%q is not the id of an account", after)
		}
	}
	found, err := s.needs.Accounts.Accounts(viewer.System(ctx), from, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]AccountLine, 0, len(found))
	for _, row := range found {
		line, _, err := s.line(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		line.Email, line.Created, line.Blocked = row.Email, row.CreatedAt.UTC(), row.BlockedAt
		lines = append(lines, line)
	}
	return lines, nil
}

func (s *Service) line(ctx context.Context, account int64) (AccountLine, Subscription, error) {
	sub, err := s.needs.Subscriptions.Of(ctx, account)
	if err != nil {
		return AccountLine{}, sub, err
	}
	balance, err := s.needs.Credits.Balance(ctx, account)
	return AccountLine{
		ID: publicid.Format(publicid.Account, account), Plan: sub.Plan, Interval: sub.Interval, Status: sub.Status,
		Credits: balance.Credits, Owed: balance.Owed,
	}, sub, err
}

// Account shows the account of an id or an address.
func (s *Service) Account(ctx context.Context, name string) (AccountReport, error) {
	row, err := s.known(ctx, name)
	if err != nil {
		return AccountReport{}, err
	}
	line, sub, err := s.line(ctx, row.ID)
	if err != nil {
		return AccountReport{}, err
	}
	line.Email, line.Created, line.Blocked = row.Email, row.CreatedAt.UTC(), row.BlockedAt
	report := AccountReport{AccountLine: line, PeriodEnd: sub.PeriodEnd, Limits: sub.Limits}
	if report.Leaves, err = s.needs.Leavers.Due(asOperator(ctx), row.ID); err != nil {
		return report, err
	}
	if report.Movements, err = s.needs.Credits.Entries(ctx, row.ID, shownEntries); err != nil {
		return report, err
	}
	report.Changes, err = audit.List(ctx, s.db, row.ID, shownEntries)
	return report, err
}

// known is the account of an id or an address, which must be there.
func (s *Service) known(ctx context.Context, name string) (AccountRow, error) {
	account, err := s.named(ctx, name)
	if err != nil {
		return AccountRow{}, err
	}
	rows, err := s.needs.Accounts.Accounts(viewer.System(ctx), account-1, 1)
	if err != nil {
		return AccountRow{}, err
	}
	if len(rows) == 0 || rows[0].ID != account {
		return AccountRow{}, fmt.Errorf("there is no account %s", name)
	}
	return rows[0], nil
}

// named finds an account by its id or its address, which must have no other: anyone may open an
// account with any address.
func (s *Service) named(ctx context.Context, name string) (int64, error) {
	if account, ok := publicid.Parse(publicid.Account, name); ok {
		return account, nil
	}
	accounts, err := s.needs.Keys.AccountsOf(viewer.System(ctx), name)
	switch {
	case err != nil:
		return 0, err
	case len(accounts) == 0:
		return 0, fmt.Errorf("there is no account %s", name)
	case len(accounts) > 1:
		ids := make([]string, min(len(accounts), shownEntries))
		for i := range ids {
			ids[i] = publicid.Format(publicid.Account, accounts[i])
		}
		return 0, fmt.Errorf("%s has %d accounts: name the one that you mean by its id, of %s", name, len(accounts), strings.Join(ids, ", "))
	}
	return accounts[0], nil
}

// maxReference bounds what an operator calls a movement of credits, in characters.
const maxReference = 100

// movement is the reference of a movement of the account's credits, within the bound of an
// operator's own.
func (a AccountRow) movement(kind, reference string) (string, error) {
	if n := utf8.RuneCountInString(reference); n > maxReference {
		return "", fmt.Errorf("the reference has %d characters, and may have %d", n, maxReference)
	}
	return kind + ":" + publicid.Format(publicid.Account, a.ID) + ":" + reference, nil
}

// GrantCredits gives an account credits and returns its balance. A reference grants
// once; an empty one is replaced by a new one.
func (s *Service) GrantCredits(ctx context.Context, name string, amount int64, reference string) (Balance, error) {
	account, err := s.known(ctx, name)
	if err != nil {
		return Balance{}, err
	}
	if reference == "" {
		reference = fmt.Sprint(s.db.NewID())
	}
	movement, err := account.movement("grant", reference)
	if err != nil {
		return Balance{}, err
	}
	return s.needs.Credits.Grant(asOperator(ctx), account.ID, amount, movement)
}

// TakeCredits takes credits from an account and returns its balance: what it does not have, or
// has set aside for a call that runs, it owes. The reference takes once.
func (s *Service) TakeCredits(ctx context.Context, name string, amount int64, reference string) (Balance, error) {
	account, err := s.known(ctx, name)
	if err != nil {
		return Balance{}, err
	}
	movement, err := account.movement("take", reference)
	if err != nil {
		return Balance{}, err
	}
	return s.needs.Credits.Take(asOperator(ctx), account.ID, amount, movement)
}

// NoPlan ends the plan of an account.
const NoPlan = "none"

// KnownPlan reports a plan that an account may have for nothing.
func KnownPlan(plan string) bool { return plan == "standard" || plan == "pro" }

// ChangePlan gives an account that does not pay a plan, `standard` or `pro`, or NoPlan.
func (s *Service) ChangePlan(ctx context.Context, name, plan string) (AccountReport, error) {
	account, err := s.known(ctx, name)
	if err != nil {
		return AccountReport{}, err
	}
	switch {
	case plan == NoPlan:
		plan = ""
	case !KnownPlan(plan):
		return AccountReport{}, fmt.Errorf("%q is none of the plans standard, pro and none", plan)
	}
	if err := s.needs.Subscriptions.Change(asOperator(ctx), account.ID, plan); err != nil {
		return AccountReport{}, err
	}
	return s.Account(ctx, name)
}

// LimitAccount sets limits of one account, each `name=value` in the words of the configuration's
// plans, or `name=plan` for what its plan gives.
func (s *Service) LimitAccount(ctx context.Context, name string, changes []string) (AccountReport, error) {
	account, err := s.known(ctx, name)
	if err != nil {
		return AccountReport{}, err
	}
	if err := s.needs.Subscriptions.Limit(asOperator(ctx), account.ID, changes); err != nil {
		return AccountReport{}, err
	}
	return s.Account(ctx, name)
}

// BlockAccount has every key of an account refused, its shares hidden, what runs of it cancelled,
// and nothing started or sent; lift ends that. It fails for an account that is so already.
func (s *Service) BlockAccount(ctx context.Context, name string, lift bool) error {
	account, err := s.known(ctx, name)
	if err != nil {
		return err
	}
	done, err := s.needs.Accounts.Block(asOperator(ctx), account.ID, lift)
	if err == nil && !lift {
		if err := s.needs.Scrolls.Stop(asOperator(ctx), account.ID); err != nil {
			return fmt.Errorf("%s is blocked, but its scrolls could not be cancelled; block it again: %w", name, err)
		}
	}
	switch {
	case err != nil || done:
		return err
	case lift:
		return fmt.Errorf("%s is not blocked", name)
	}
	return fmt.Errorf("%s is blocked already", name)
}

// DeleteAccount has an account deleted, and returns when that begins; keep calls it off.
func (s *Service) DeleteAccount(ctx context.Context, name string, keep bool) (at time.Time, err error) {
	account, err := s.known(ctx, name)
	if err != nil {
		return at, err
	}
	if !keep {
		return s.needs.Leavers.Order(asOperator(ctx), account.ID)
	}
	if done, err := s.needs.Leavers.CallOff(asOperator(ctx), account.ID); err != nil || !done {
		return at, cmp.Or(err, fmt.Errorf("no deletion of %s is ordered", name))
	}
	return at, nil
}
