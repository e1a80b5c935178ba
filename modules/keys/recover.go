package keys

import (
	"context"
	"crypto/hmac"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// recoverKind is the job that makes and mails a one-time code and a link.
const recoverKind = "keys.recover"

// recovery is the argument of the job. The job itself makes the code, so that no table
// holds it.
type recovery struct {
	Email string `json:"email"`
}

// Statuses of a reissue.
const (
	ReissueCompleted   = "completed"
	ReissueInvalidCode = "invalid_code"
	ReissueRateLimited = "rate_limited"
)

// Recover asks for a one-time code and a link to be mailed. It does not read whether
// the address is known, so its answer and duration do not depend on that. Nor is the
// job unique, since its duration would show whether a second one is written.
func (c *Codes) Recover(ctx context.Context, email string) error {
	address, ok := mail.Address(email)
	if !ok {
		return apierr.Invalid("email", "must be an e-mail address")
	}
	err := c.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Enqueue(ctx, store.Job{Kind: recoverKind, Args: recovery{Email: address}})
	})
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}

// send makes a code for a purpose and mails it to an address, with a word that no one
// guesses: where a key was lost, it is that of a link, and an address with several accounts
// gets the link alone. An address that had its mails of this hour gets no further one; the newest is then
// valid for longer. A code that could not be mailed is removed, and the job tries again
// with another.
func (c *Codes) send(ctx context.Context, why purpose, address string) error {
	account, several, err := c.keys.ownedBy(ctx, address)
	if err != nil {
		return err
	}
	digits, err := newDigits()
	if err != nil {
		return err
	}
	now, token := c.keys.now(), secret.New()
	if several && why == forRecovery {
		digits = "" // anyone opens an account with any address: the page of the link names all
	}
	made := newCode(address, account, digits, now, now.Add(c.cfg.CodeTTL))
	made.id, made.purpose = c.db.NewID(), why
	made.linkHash, made.linkExpiresAt = hashToken(token), now.Add(c.cfg.LinkTTL)
	letter := c.signInLetter(address, digits, token)
	if why == forRecovery {
		letter = c.letter(address, digits, token)
	}
	added, err := c.rows.addCode(ctx, made, now.Add(-time.Hour), c.cfg.MailsPerHour)
	if err != nil || !added || account == 0 {
		return err
	}
	if err := c.mailer.Send(ctx, letter); err != nil {
		err = fmt.Errorf("mail a one-time code: %w", err)
		if gone := c.rows.removeCode(context.WithoutCancel(ctx), made.id); gone != nil {
			c.log.ErrorContext(ctx, "remove a code that was not mailed", "error", gone)
		}
		return err
	}
	return nil
}

func (c *Codes) letter(address, digits, token string) mail.Message {
	subject, code := "Your Scrollery accounts", ""
	if digits != "" {
		subject = "Your Scrollery code: " + digits
		code = "Your one-time code is " + digits + "\n\n" +
			fmt.Sprintf("It is valid for %d minutes. ", int(c.cfg.CodeTTL.Minutes())) +
			"Using it ends every key that the account has now.\n\nOr open this page. "
	} else {
		code = "This address has several accounts, which anyone may have opened. Open this page.\n"
	}
	return mail.Message{
		To:      address,
		Subject: subject,
		Text: "Someone, most likely you, asked to replace a lost Scrollery API key.\n\n" + code +
			"It shows every account of this address, and gives a new key\n" +
			"for each one that you choose:\n\n" +
			c.cfg.BaseURL + LinkPath + token + "\n\n" +
			fmt.Sprintf("The page works once, within %d minutes. ", int(c.cfg.LinkTTL.Minutes())) +
			"If you did not ask, do nothing:\nyour keys stay as they are.\n",
	}
}

// Reissue exchanges the newest code of an address for a new key, and ends every key and
// session that the account had. client is the address that asks: its tries are counted
// apart from those of other clients, so a stranger's guesses leave the owner theirs.
// A missing, unknown or wrong code costs the same work.
func (c *Codes) Reissue(ctx context.Context, email, digits, client string) (status, apiKey string, err error) {
	address, ok := mail.Address(email)
	if !ok {
		return "", "", apierr.Invalid("email", "must be an e-mail address")
	}
	var account int64
	err = c.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) (err error) {
		apiKey = ""
		if status, account, err = c.check(ctx, tx, forRecovery, address, digits, client); err != nil || status != ReissueCompleted {
			return err
		}
		now := c.keys.now()
		for _, why := range []purpose{forRecovery, forSignIn} {
			if err := c.rows.useCodes(ctx, tx, why, address, now); err != nil {
				return err
			}
		}
		apiKey, err = c.keys.replace(ctx, tx, account, now)
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("reissue: %w", err)
	}
	c.judged(ctx, status, account)
	return status, apiKey, nil
}

// judged counts a wrong guess at a code that would open an account. Others could not have
// been right, so that a stranger who sends any number of them keeps no one out.
func (c *Codes) judged(ctx context.Context, status string, account int64) {
	if status == ReissueInvalidCode && account != 0 {
		c.wrong.add(ctx, c.keys.now())
	}
}

// check tries a code of an address, and counts the try, or the word of the same mail, which
// no one guesses and no one can use up. It returns the account that the
// code opens, 0 for none, and ReissueCompleted for a right one, which is not used up by
// that.
func (c *Codes) check(ctx context.Context, tx *store.Tx, why purpose, address, digits, client string) (status string, account int64, err error) {
	if err := c.rows.lockCodes(ctx, tx, address); err != nil {
		return "", 0, err
	}
	now := c.keys.now()
	newest, found, err := c.rows.newestCode(ctx, tx, why, address)
	if err != nil {
		return "", 0, err
	}
	if !found {
		newest = c.dummy
	}
	if len(digits) == secret.Length {
		if newest.linkValid(now) && hmac.Equal(newest.linkHash, hashToken(digits)) {
			return ReissueCompleted, newest.accountID, nil
		}
		return ReissueInvalidCode, 0, nil
	}
	right, mark := newest.matches(digits), newest.mark(client)
	if ended := newest.used || !now.Before(newest.expiresAt); !ended {
		if newest.triesOf(mark) >= c.cfg.CodeTries || newest.tries >= c.cfg.CodeGuesses || c.wrong.spent(now) {
			return ReissueRateLimited, 0, nil
		}
	} else {
		newest.id, newest.accountID, right = 0, 0, false
	}
	if err := c.rows.addTry(ctx, tx, newest, mark); err != nil {
		return "", 0, err
	}
	if !right || newest.accountID == 0 {
		return ReissueInvalidCode, newest.accountID, nil
	}
	return ReissueCompleted, newest.accountID, nil
}

// replace ends every key of an account and returns a new one.
func (s *Service) replace(ctx context.Context, tx *store.Tx, accountID int64, at time.Time) (apiKey string, err error) {
	if err := s.hold(ctx, tx, accountID); err != nil {
		return "", err
	}
	if err := s.rows.revokeAll(ctx, tx, accountID, at); err != nil {
		return "", err
	}
	return s.Mint(ctx, tx, accountID)
}
