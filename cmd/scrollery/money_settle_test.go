package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// settle gives the server peace, and then finds no cent and no key out of place.
func (w *town) settle(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	part := store.Defaults()
	part.DataDir = w.dir
	for _, setting := range w.env {
		if address, ok := strings.CutPrefix(setting, "SCROLLERY_DATABASE_URL="); ok {
			part.DatabaseURL = address
		}
	}
	w.kill()
	db := storetest.Open(t, part)
	books := &books{db: db}
	if part.DatabaseURL != "" { // or its lost leader is missed for fifteen seconds
		books.exec(t, "DELETE FROM river_leader")
	}
	if err := w.launch(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		faults := w.audit(t, books)
		if len(faults) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, fault := range faults {
				t.Errorf("got %s, want books without a fault", fault)
			}
			t.Log(w.stderr)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// books are the rows of the database.
type books struct{ db *store.DB }

func (b *books) exec(t *testing.T, query string) {
	t.Helper()
	err := b.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rows reads whole tables of text.
func (b *books) rows(t *testing.T, query string) (out [][]string) {
	t.Helper()
	storetest.Rows(t, b.db, func(found *sql.Rows) error {
		columns, err := found.Columns()
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		out = append(out, row)
		return errors.Join(err, found.Scan(into...))
	}, query)
	return out
}

func (b *books) number(t *testing.T, query string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(b.rows(t, query)[0][0], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// audit lists what is wrong, or is not done yet.
func (w *town) audit(t *testing.T, b *books) (faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	bought := map[string]*purchase{}
	for _, c := range w.customers {
		for _, p := range c.bought {
			bought[p.session] = p
		}
	}
	claimed, accounts := 0, owners
	owed := map[string]int{} // account → what it paid for, less what was undone
	subs := map[string]map[string]bool{}
	for _, row := range b.rows(t, "SELECT session, status, purpose, amount_cents, coalesce(account_id, 0), coalesce(external_id, ''), reversed_cents FROM checkouts") {
		session, status, purpose, account := row[0], row[1], row[2], row[4]
		p, paid := bought[session], w.stripe.Text(session, "payment_status") == "paid"
		switch {
		case p == nil && (paid || status == "claimed"):
			wrong("nobody's checkout %s is %s, paid: %v", session, status, paid)
		case status == "claimed" && !paid:
			wrong("%s was handed out and never paid", session)
		case p == nil || !paid:
			continue
		case status != "claimed":
			if purpose == "subscription" || p.undone < p.cents {
				wrong("%s is paid and %s", session, status)
			}
			continue
		}
		claimed++
		if p.opensNew {
			accounts++
		}
		if purpose == "subscription" {
			if subs[account] == nil {
				subs[account] = map[string]bool{}
			}
			subs[account][row[5]] = true
			continue
		}
		owed[account] += p.cents - p.undone
		if row[3] != fmt.Sprint(p.cents) || row[6] != fmt.Sprint(p.undone) {
			wrong("%s: %s cents, %s reversed; want %d and %d", session, row[3], row[6], p.cents, p.undone)
		}
	}
	if got := b.number(t, "SELECT count(*) FROM accounts"); got != accounts {
		wrong("%d accounts, want %d", got, accounts)
	}
	if got, want := b.number(t, "SELECT count(*) FROM keys"), b.number(t, recoveries)+owners+
		b.number(t, "SELECT count(*) FROM checkouts WHERE status = 'claimed' AND purpose <> 'topup'"); got != want {
		wrong("%d keys, want %d", got, want)
	}
	if got := b.number(t, "SELECT count(*) FROM payment_events WHERE event LIKE 'evt_forged%'"); got != 0 {
		wrong("%d forged notices were taken", got)
	}
	w.auditCredits(t, b, owed, wrong)
	w.auditSubscriptions(t, b, subs, wrong)
	return faults
}

// auditCredits adds the ledger up: every entry, every account, every payment.
func (w *town) auditCredits(t *testing.T, b *books, paid map[string]int, wrong func(string, ...any)) {
	const sums = `SELECT account_id, sum(amount), sum(owed),
		sum(CASE WHEN reason IN ('fee', 'return') THEN amount ELSE 0 END) FROM credit_entries GROUP BY account_id`
	fees, accounts := 0, 0
	balances := map[string][2]string{}
	for _, row := range b.rows(t, "SELECT account_id, balance, owed FROM credit_balances") {
		balances[row[0]] = [2]string{row[1], row[2]}
	}
	for _, row := range b.rows(t, sums) {
		accounts++
		var sum, owed, fee int
		if _, err := fmt.Sscan(row[1]+" "+row[2]+" "+row[3], &sum, &owed, &fee); err != nil {
			t.Fatal(err)
		}
		if got := balances[row[0]]; got[0] != row[1] || got[1] != row[2] || sum < 0 || owed < 0 {
			wrong("account %s: balance %s, owed %s; its entries say %d, %d", row[0], got[0], got[1], sum, owed)
		}
		if sum-owed-fee != paid[row[0]] {
			wrong("account %s: %d credits, %d owed, %d of fees; %d were paid for", row[0], sum, owed, fee, paid[row[0]])
		}
		fees -= fee
	}
	if accounts != len(balances) {
		wrong("%d accounts with entries, %d with a balance", accounts, len(balances))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if least := 50 * w.did["fee"]; fees < least || fees > least+50*w.did["fee lost"] {
		wrong("%d credits of fees; %d calls were answered, %d lost", fees, w.did["fee"], w.did["fee lost"])
	}
	twice := b.rows(t, "SELECT reference, count(*) FROM credit_entries GROUP BY reference HAVING count(*) > 1")
	for _, row := range twice {
		wrong("%s stands there %s times", row[0], row[1])
	}
}

// auditSubscriptions compares with Stripe: each account has what Stripe says, and
// no account pays twice.
func (w *town) auditSubscriptions(t *testing.T, b *books, subs map[string]map[string]bool, wrong func(string, ...any)) {
	means := map[string]string{"active": "active", "past_due": "past_due", "unpaid": "past_due", "canceled": "cancelled"}
	for _, row := range b.rows(t, "SELECT account_id, external_id, status FROM subscriptions WHERE external_id IS NOT NULL") {
		account, external, status := row[0], row[1], row[2]
		if want := means[w.stripe.Text(external, "status")]; status != want {
			wrong("account %s is %s, Stripe says %s", account, status, want)
		}
		if !subs[account][external] {
			wrong("account %s never bought %s", account, external)
		}
		for sub := range subs[account] {
			if sub != external && w.stripe.Text(sub, "status") != "canceled" {
				wrong("account %s pays for %s and %s", account, external, sub)
			}
		}
		delete(subs, account)
	}
	for account, left := range subs {
		wrong("account %s bought %v and has no subscription", account, left)
	}
}

// recoveries counts how often keys were recovered: using a code voids the others of its
// address at the same moment.
const recoveries = "SELECT count(*) FROM (SELECT DISTINCT email, used_at FROM codes WHERE used_at IS NOT NULL) AS used"
