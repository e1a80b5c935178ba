package keys

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// recoverKind is the job that mints and mails a one-time code.
const recoverKind = "keys.recover"

// recovery is what the job knows. The code is made by the job, so that it stands
// in no table.
type recovery struct {
	Email string `json:"email"`
}

// Statuses of a reissue.
const (
	ReissueCompleted   = "completed"
	ReissueInvalidCode = "invalid_code"
	ReissueRateLimited = "rate_limited"
)

// Recover asks for a one-time code to be mailed. It does not look whether the
// address is known: the answer and its time can therefore tell no one. Nor is the
// job unique, since its duration would show in whether a second one is written.
func (s *Service) Recover(ctx context.Context, email string) error {
	address, ok := mail.Address(email)
	if !ok {
		return apierr.Invalid("email", "must be an e-mail address")
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Enqueue(ctx, store.Job{Kind: recoverKind, Args: recovery{Email: address}})
	})
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}

// sendCode makes a code for an address and mails it, unless the address had its
// codes of this hour. One that could not be mailed is taken back, and the job
// tries again with another.
func (s *Service) sendCode(ctx context.Context, address string) error {
	account, err := s.accountOf(ctx, address)
	if err != nil {
		return err
	}
	digits, err := newDigits()
	if err != nil {
		return err
	}
	now := s.now()
	made := newCode(address, account, digits, now, now.Add(s.cfg.CodeTTL))
	made.id = s.db.NewID()
	added, err := s.rows.addCode(ctx, made, now.Add(-time.Hour), s.cfg.MailsPerHour)
	if err != nil || !added || account == 0 {
		return err
	}
	if err := s.mailer.Send(ctx, s.letter(address, digits)); err != nil {
		err = fmt.Errorf("mail a one-time code: %w", err)
		if gone := s.rows.removeCode(context.WithoutCancel(ctx), made.id); gone != nil {
			s.log.ErrorContext(ctx, "take back a code that was not mailed", "error", gone)
		}
		return err
	}
	return nil
}

func (s *Service) letter(address, digits string) mail.Message {
	return mail.Message{
		To:      address,
		Subject: "Your Scrollery code: " + digits,
		Text: "Somebody, most likely you, asked to replace a lost Scrollery API key.\n\n" +
			"Your one-time code is " + digits + "\n\n" +
			fmt.Sprintf("It is valid for %d minutes. ", int(s.cfg.CodeTTL.Minutes())) +
			"Using it ends every key that you have now.\n" +
			"If you did not ask, do nothing: your keys stay as they are.\n",
	}
}

// Reissue exchanges the newest code of an address for a new key, and ends every
// key and session that the account had. Each try is counted before it is judged,
// so racing guesses have no more of them; a code that is not there, is for no one
// or is wrong takes the same work.
func (s *Service) Reissue(ctx context.Context, email, digits string) (status, apiKey string, err error) {
	address, ok := mail.Address(email)
	if !ok {
		return "", "", apierr.Invalid("email", "must be an e-mail address")
	}
	err = s.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) error {
		status, apiKey, err = s.try(ctx, tx, address, digits)
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("reissue: %w", err)
	}
	return status, apiKey, nil
}

func (s *Service) try(ctx context.Context, tx *store.Tx, address, digits string) (status, apiKey string, err error) {
	now := s.now()
	newest, found, err := s.rows.newestCode(ctx, tx, address)
	if err != nil {
		return "", "", err
	}
	if !found {
		newest = s.dummy
	}
	counted, err := s.rows.countTry(ctx, tx, newest.id, s.cfg.CodeTries, now)
	if err != nil {
		return "", "", err
	}
	right := newest.matches(digits)
	if !counted && found { // perhaps for what another call has just done
		if newest, _, err = s.rows.newestCode(ctx, tx, address); err != nil {
			return "", "", err
		}
	}
	switch {
	case !counted && newest.tries >= s.cfg.CodeTries && !newest.used && now.Before(newest.expiresAt):
		return ReissueRateLimited, "", nil
	case !counted || !right || newest.accountID == 0:
		return ReissueInvalidCode, "", nil
	}
	if err := s.rows.useCode(ctx, tx, newest.id, now); err != nil {
		return "", "", err
	}
	if err := s.hold(ctx, tx, newest.accountID); err != nil {
		return "", "", err
	}
	if err := s.rows.revokeAll(ctx, tx, newest.accountID, now); err != nil {
		return "", "", err
	}
	apiKey, err = s.Mint(ctx, tx, newest.accountID)
	return ReissueCompleted, apiKey, err
}
