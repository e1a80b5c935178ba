package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// LinkPath is where the app mounts the page of mailed links.
const LinkPath = "/erase/"

// The steps of a deletion are audit entries: the newest one of an account is its state.
const (
	// asked: a mail was asked for.
	asked = "account.erase_asked"
	// mailed: the subject is the hash of the link's token.
	mailed = "account.erase_mailed"
	// confirmed: the same subject; Grace runs from here.
	confirmed = "account.erase_confirmed"
	// calledOff: nothing is deleted.
	calledOff = "account.erase_called_off"
)

// Statuses of a deletion, as the API shows them.
const (
	statusSent      = "confirmation_sent"
	statusScheduled = "scheduled"
	statusCancelled = "cancelled"
	statusNone      = "none"
)

// step is the newest step of a deletion; action is empty if there is none.
type step struct {
	action, subject string
	at              time.Time
}

// eraseAt is when a confirmed deletion begins.
func (s step) eraseAt() time.Time { return s.at.Add(Grace) }

// pending reports a deletion that can be called off.
func (s step) pending() bool { return s.action != "" && s.action != calledOff }

// begun reports a deletion that may be under way, so that nothing can be called off: a
// part of the account may be gone.
func (s step) begun(now time.Time) bool {
	return s.action == confirmed && !now.Before(s.eraseAt())
}

var errBegun = apierr.New(apierr.OperationError, "The deletion has begun. It cannot be called off any more.")

var errLinkEnded = errors.New("the link is unknown, used or expired")

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// request has a mail sent with the link that confirms the deletion of the account of the
// context. It changes nothing where the deletion is confirmed already.
func (e *Eraser) request(ctx context.Context) (status string, at time.Time, err error) {
	account, _, _ := viewer.Tenant(ctx)
	_, known, err := e.needs.Accounts.EmailOf(ctx, account)
	if err != nil {
		return "", at, fmt.Errorf("erase: %w", err)
	}
	if !known {
		return "", at, apierr.New(apierr.OperationError, "The account has no mail address to which the confirmation could be sent. Write to the operator.")
	}
	err = e.change(ctx, account, func(ctx context.Context, tx *store.Tx, now step) error {
		switch {
		case now.action == confirmed:
			status, at = statusScheduled, now.eraseAt()
			return nil
		case now.pending() && e.now().Sub(now.at) < mailEvery:
			return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: mailEvery, Message: "A mail was sent less than a minute ago."}
		}
		status, at = statusSent, time.Time{}
		if err := e.note(ctx, tx, account, asked, publicid.Format(publicid.Account, account)); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: mailKind, Args: order{account, asked}})
	})
	return status, at, err
}

// callOff ends a deletion that has not begun.
func (e *Eraser) callOff(ctx context.Context) (status string, at time.Time, err error) {
	account, _, _ := viewer.Tenant(ctx)
	err = e.change(ctx, account, func(ctx context.Context, tx *store.Tx, now step) error {
		if status = statusNone; !now.pending() {
			return nil
		}
		if now.begun(e.now()) {
			return errBegun
		}
		status = statusCancelled
		return e.noteStep(ctx, tx, account, now, calledOff, now.subject)
	})
	e.needs.Removals.Flush(ctx)
	return status, at, err
}

// change runs do in a transaction, alone among the changes of the account's deletion.
func (e *Eraser) change(ctx context.Context, account int64, do func(ctx context.Context, tx *store.Tx, now step) error) error {
	err := e.db.Write(viewer.As(ctx, account), func(_ context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "erase", account); err != nil {
			return err
		}
		now, err := newest(viewer.As(ctx, account), tx.Ent())
		if err != nil {
			return err
		}
		return do(ctx, tx, now)
	})
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}

func (e *Eraser) note(ctx context.Context, tx *store.Tx, account int64, action, subject string) error {
	return audit.Write(ctx, tx, e.db.NewID(), audit.Entry{AccountID: account, Action: action, Subject: subject})
}

// sendLink makes a link and mails it. The newest link is the valid one; none is stored.
func (e *Eraser) sendLink(ctx context.Context, account int64) error {
	email, ok, err := e.needs.Accounts.EmailOf(viewer.As(ctx, account), account)
	if err != nil || !ok {
		return err
	}
	token := secret.New()
	err = e.change(ctx, account, func(ctx context.Context, tx *store.Tx, now step) error {
		if now.action != asked && now.action != mailed {
			return errLinkEnded // called off meanwhile
		}
		return e.note(ctx, tx, account, mailed, hashToken(token))
	})
	if errors.Is(err, errLinkEnded) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.needs.Mailer.Send(ctx, mail.Message{
		To: email, Subject: "Delete your Scrollery account?",
		Text: "A key of your Scrollery account asked to delete the account and everything in it:\n" +
			publicid.Format(publicid.Account, account) + "\n\n" +
			"Nothing happens unless you confirm it on this page within a day:\n\n" +
			e.link(account, token) + "\n\n" +
			"After that you have 7 days to call it off, on the same page or with\n" +
			"POST /v1/account/erase {\"cancel\": true}. To keep a copy: GET /v1/account/export.\n\n" +
			"If you did not ask, do nothing, and replace your keys.\n",
	})
}

// link is the address of the page of a token.
func (e *Eraser) link(account int64, token string) string {
	return e.cfg.BaseURL + LinkPath + publicid.Format(publicid.Account, account) + "." + token
}

// look returns the step that a link belongs to, or errLinkEnded.
func (e *Eraser) look(ctx context.Context, account int64, token string) (step, error) {
	now, err := newest(viewer.As(ctx, account), e.db.Ent())
	if err != nil {
		return step{}, err
	}
	return now, e.opens(now, token)
}

// opens reports whether the token is that of the step, and still of use.
func (e *Eraser) opens(now step, token string) error {
	if now.subject != hashToken(token) || now.action != confirmed && (now.action != mailed || e.now().Sub(now.at) >= linkTTL) {
		return errLinkEnded
	}
	return nil
}

// decide confirms the deletion, once, or calls it off, for the reader of a mailed link.
func (e *Eraser) decide(ctx context.Context, account int64, token string, erase bool) (at time.Time, err error) {
	err = e.change(audit.AsCustomer(ctx), account, func(ctx context.Context, tx *store.Tx, now step) error {
		if err := e.opens(now, token); err != nil {
			return err
		}
		if !erase && now.begun(e.now()) {
			return errBegun
		}
		if !erase {
			return e.noteStep(ctx, tx, account, now, calledOff, now.subject)
		}
		at, err = e.confirm(ctx, tx, account, now, now.subject)
		return err
	})
	e.needs.Removals.Flush(ctx)
	return at, err
}

// Order confirms the deletion of an account on an operator's word: it begins when Grace is over,
// and until then can be called off by CallOff or the account itself. It changes nothing where the
// deletion is confirmed already. at is when it begins.
func (e *Eraser) Order(ctx context.Context, account int64) (at time.Time, err error) {
	subject := hashToken(secret.New()) // no link has it
	err = e.change(ctx, account, func(ctx context.Context, tx *store.Tx, now step) error {
		at, err = e.confirm(ctx, tx, account, now, subject)
		return err
	})
	e.needs.Removals.Flush(ctx)
	return at, err
}

// confirm has the deletion begin when Grace is over.
func (e *Eraser) confirm(ctx context.Context, tx *store.Tx, account int64, now step, subject string) (at time.Time, err error) {
	if now.action == confirmed {
		return now.eraseAt(), nil
	}
	at = e.now().Add(Grace)
	if err := e.noteStep(ctx, tx, account, now, confirmed, subject); err != nil {
		return at, err
	}
	return at, tx.Enqueue(ctx, store.Job{
		Kind: eraseKind, Args: order{account, subject}, RunAt: at.Add(time.Second), MaxAttempts: jobs.AttemptsOver(eraseWithin),
	})
}

// Due is when the confirmed deletion of an account begins; zero if none is confirmed.
func (e *Eraser) Due(ctx context.Context, account int64) (time.Time, error) {
	now, err := newest(viewer.As(ctx, account), e.db.Ent())
	if err != nil || now.action != confirmed {
		return time.Time{}, err
	}
	return now.eraseAt(), nil
}

// CallOff calls off the deletion of an account that has not begun. It reports whether there was one.
func (e *Eraser) CallOff(ctx context.Context, account int64) (done bool, err error) {
	status, _, err := e.callOff(viewer.As(ctx, account))
	return status == statusCancelled, err
}

// erase deletes an account whose deletion is confirmed and due. What is confirmed stays
// stored until all else is gone, so that an erasure that was cut off goes on.
func (e *Eraser) erase(ctx context.Context, account int64, subject string) error {
	ctx = viewer.As(ctx, account)
	now, err := newest(ctx, e.db.Ent())
	if err != nil {
		return err
	}
	if now.action != confirmed || now.subject != subject {
		return nil // called off, or done
	}
	if wait := now.eraseAt().Sub(e.now()); wait > 0 {
		return jobs.Snooze(wait)
	}
	if err := e.needs.Billing.Close(ctx, account); err != nil {
		return fmt.Errorf("erase: end the subscription: %w", err)
	}
	if err := e.needs.Files.EraseFiles(ctx); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := e.eraseAll(ctx, account); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := e.eraseLast(ctx, account); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	e.log.InfoContext(ctx, "an account was deleted", "account", publicid.Format(publicid.Account, account))
	return nil
}

// eraseAll deletes rows until nothing is left: work that ran meanwhile may have written.
func (e *Eraser) eraseAll(ctx context.Context, account int64) error {
	for range 5 {
		deleted, err := e.eraseRows(ctx, account)
		if err != nil || deleted == 0 {
			return err
		}
	}
	return nil
}

// eraseRest deletes what a call, a scroll or a delivery that had begun before the deletion
// of an account wrote after it.
func (e *Eraser) eraseRest(ctx context.Context, account int64) error {
	ctx = viewer.As(ctx, account)
	there, err := exists(ctx, e.db.Ent(), account)
	if err != nil || there {
		return err
	}
	if err := e.needs.Files.EraseFiles(ctx); err != nil {
		return fmt.Errorf("erase the rest: %w", err)
	}
	if err := e.eraseAll(ctx, account); err != nil {
		return fmt.Errorf("erase the rest: %w", err)
	}
	if err := e.eraseAudit(ctx); err != nil {
		return fmt.Errorf("erase the rest: %w", err)
	}
	return nil
}
