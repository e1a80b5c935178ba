package account

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Removals is the log that is kept apart from the database.
type Removals interface {
	// Leaves and Stays note in the transaction that the owner confirmed the deletion of the
	// account, or called it off.
	Leaves(ctx context.Context, tx *store.Tx, account int64, subject string, at int64) error
	Stays(ctx context.Context, tx *store.Tx, account, at int64) error
	// Flush has the log what was committed. What it cannot write is written later.
	Flush(ctx context.Context)
}

// againWithin is how long a start waits for an account to be deleted once more. A job does the
// rest, and no key opens the account meanwhile.
const againWithin = time.Minute

// noteStep is note with a line in the log of removals, if the step confirms a deletion or calls it
// off.
func (e *Eraser) noteStep(ctx context.Context, tx *store.Tx, account int64, before step, action, subject string) error {
	at, err := e.now().UnixMilli(), error(nil)
	switch {
	case action == confirmed:
		err = e.needs.Removals.Leaves(ctx, tx, account, subject, at)
	case action == calledOff && before.action == confirmed:
		err = e.needs.Removals.Stays(ctx, tx, account, at)
	}
	if err != nil {
		return err
	}
	return e.note(ctx, tx, account, action, subject)
}

// Leave has an account go whose owner confirmed that at a time, which a database that was restored
// from an older copy does not know. An account whose time is over goes now.
func (e *Eraser) Leave(ctx context.Context, account int64, subject string, at int64) error {
	ctx = viewer.As(ctx, account)
	due := time.UnixMilli(at).Add(Grace)
	err := e.change(ctx, account, func(ctx context.Context, tx *store.Tx, now step) error {
		if now.action == confirmed && now.subject == subject {
			return nil // with its job
		}
		err := audit.WriteAt(ctx, tx, e.db.NewID(), audit.Entry{AccountID: account, Actor: audit.Customer, Action: confirmed, Subject: subject, At: time.UnixMilli(at)})
		if err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: eraseKind, Args: order{account, subject}, RunAt: due.Add(time.Second), MaxAttempts: jobs.AttemptsOver(eraseWithin)})
	})
	if err != nil || e.now().Before(due) {
		return err
	}
	if err := e.eraseKeys(ctx, account); err != nil {
		return fmt.Errorf("delete an account once more: %w", err)
	}
	within, cancel := context.WithTimeout(ctx, againWithin)
	defer cancel()
	if err := e.erase(within, account, subject); err != nil && ctx.Err() == nil {
		e.log.WarnContext(ctx, "an account that left is not deleted yet; a job goes on", "account", publicid.Format(publicid.Account, account), "error", err)
	}
	return ctx.Err()
}

// Stay calls off what was confirmed before a time.
func (e *Eraser) Stay(ctx context.Context, account, at int64) error {
	return e.change(viewer.As(ctx, account), account, func(ctx context.Context, tx *store.Tx, now step) error {
		if now.action != confirmed || now.at.UnixMilli() > at {
			return nil
		}
		return audit.WriteAt(ctx, tx, e.db.NewID(), audit.Entry{AccountID: account, Actor: audit.Customer, Action: calledOff, Subject: now.subject, At: time.UnixMilli(at)})
	})
}

// eraseKeys deletes the keys and sessions of the account, so that no call reads it.
func (e *Eraser) eraseKeys(ctx context.Context, account int64) error {
	statement := e.deleteSome(keysTable, "id")
	_, err := e.batches(ctx, func(ctx context.Context, tx *store.Tx) (int64, error) {
		tx.Notify(account)
		return statement.ExecIn(ctx, tx)
	})
	return err
}
