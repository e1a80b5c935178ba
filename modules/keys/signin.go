package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// signInKind is the job that makes and mails a code for a sign-in.
const signInKind = "keys.sign_in"

// AskSignIn has a sign-in code mailed to an address, by the rules of Recover: whether the
// address is known does not show, and an address gets as many mails an hour.
func (c *Codes) AskSignIn(ctx context.Context, tx *store.Tx, email string) error {
	address, ok := mail.Address(email)
	if !ok {
		return apierr.Invalid("email", "must be an e-mail address")
	}
	return tx.Enqueue(ctx, store.Job{Kind: signInKind, Args: recovery{Email: address}})
}

func (c *Codes) signInLetter(address, digits, word string) mail.Message {
	return mail.Message{
		To:      address,
		Subject: "Your Scrollery sign-in code: " + digits,
		Text: "Someone, most likely you, wants to connect a program to your Scrollery account.\n\n" +
			"Your sign-in code is " + digits + "\n\n" +
			fmt.Sprintf("It is valid for %d minutes. ", int(c.cfg.CodeTTL.Minutes())) +
			"Type it only into the page at\n\n" +
			c.cfg.BaseURL + "/oauth/authorize\n\n" +
			"that you opened yourself. If the page says that too many codes were tried, type\n" +
			"this word there instead, which no one can guess:\n\n" +
			word + "\n\n" +
			"Tell neither to anyone: with it, a program can read your account. If you did not ask, do nothing: nothing is connected without the code.\n",
	}
}

// SignIn tries the newest sign-in code of an address, or the word of its mail, with the limits
// of Reissue, and returns its statuses. then is called in the same transaction if the code is right; the
// code is used up unless then fails. client is the address that asks.
func (c *Codes) SignIn(ctx context.Context, email, digits, client string, then func(ctx context.Context, tx *store.Tx) error) (status string, err error) {
	address, ok := mail.Address(email)
	if !ok {
		return "", apierr.Invalid("email", "must be an e-mail address")
	}
	var account int64
	err = c.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) (err error) {
		status, account, err = c.check(ctx, tx, forSignIn, address, digits, client)
		if err != nil || status != ReissueCompleted {
			return err
		}
		if err := c.rows.useCodes(ctx, tx, forSignIn, address, c.keys.now()); err != nil {
			return err
		}
		return then(ctx, tx)
	})
	if err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	c.judged(ctx, status, account)
	return status, nil
}

// Owned is an account of a mail address.
type Owned struct {
	ID int64
	// Active reports an active subscription.
	Active   bool
	OpenedAt time.Time
}

// OwnedBy returns the accounts of an address, at most 100: those with an active
// subscription first, then the oldest.
func (s *Service) OwnedBy(ctx context.Context, address string) ([]Owned, error) {
	found, err := s.accountsByMail(ctx, address)
	if err != nil {
		return nil, err
	}
	out := make([]Owned, len(found))
	for i, account := range found {
		out[i] = Owned{ID: account.accountID, Active: account.Active, OpenedAt: account.OpenedAt}
	}
	return out, nil
}

// ErrKeysChanged: a lasting key of the account was made or revoked since a sign-in, which
// is void then: a person who lost their keys has ended the sign-ins of others, too.
var ErrKeysChanged = errors.New("the keys of the account have changed since the sign-in")

// Anchor returns the lasting key under which a program's session with these scopes is to
// be made, for a person who signed in at since: the newest that has the scopes, or a new
// one with them alone, of which no one knows the secret. Its error may be ErrKeysChanged.
func (s *Service) Anchor(ctx context.Context, tx *store.Tx, accountID int64, scopes []string, since time.Time) (keyID int64, err error) {
	if err := known(scopes); err != nil {
		return 0, err
	}
	if err := s.hold(ctx, tx, accountID); err != nil {
		return 0, err
	}
	changed, err := s.rows.lastingChanged(ctx, tx, accountID, since)
	if err != nil {
		return 0, err
	}
	if changed {
		return 0, ErrKeysChanged
	}
	return s.parent(ctx, tx, mintOrder{accountID: accountID, scopes: inOrder(scopes)})
}

// MintUnder makes a session key with the longest lifetime under a lasting key. ok is false
// where that key has ended, or lacks a scope.
func (s *Service) MintUnder(ctx context.Context, tx *store.Tx, accountID, parentID int64, scopes []string) (made Session, keyID int64, ok bool, err error) {
	if err := s.hold(ctx, tx, accountID); err != nil {
		return Session{}, 0, false, err
	}
	lasting, err := s.rows.lasting(ctx, tx, accountID)
	if err != nil {
		return Session{}, 0, false, err
	}
	at := slices.IndexFunc(lasting, func(k lastingKey) bool { return k.id == parentID })
	if at < 0 || len(scopes) == 0 {
		return Session{}, 0, false, nil
	}
	if _, err := subset(lasting[at].scopes, scopes); err != nil {
		return Session{}, 0, false, nil
	}
	order := mintOrder{accountID: accountID, parentID: parentID, scopes: inOrder(scopes), expiresAt: s.now().Add(s.cfg.MaxSessionTTL)}
	key, err := s.mint(ctx, tx, order)
	if err != nil {
		return Session{}, 0, false, err
	}
	return Session{Secret: key.secret, Scopes: order.scopes, ExpiresAt: order.expiresAt}, key.id, true, nil
}

// End revokes a key of an account. Ending it twice is once.
func (s *Service) End(ctx context.Context, tx *store.Tx, accountID, keyID int64) error {
	if err := s.hold(ctx, tx, accountID); err != nil {
		return err
	}
	ctx = viewer.As(ctx, accountID)
	row, err := s.rows.ownByID(ctx, tx.Ent(), keyID)
	if err != nil || row == nil {
		return err
	}
	return s.rows.revokeOwn(ctx, tx, row, s.now())
}
