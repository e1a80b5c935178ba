package keys

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The operator's commands. They see every tenant, and no protocol reaches them.

// CreateForEmail makes a key for the account of an address: a new complimentary
// account with the plan, or the one that the address has, which gets the plan unless
// that is empty or the account pays for one. scopes are all where
// none are named. A ttl above 0 makes a session key; its parent is the account's
// newest lasting key with those scopes, or a new one that was not shown before.
func (s *Service) CreateForEmail(ctx context.Context, email, plan string, scopes []string, ttl time.Duration) (string, error) {
	address, ok := mail.Address(email)
	if !ok {
		return "", apierr.Invalid("email", "must be an e-mail address")
	}
	if err := known(scopes); err != nil {
		return "", err
	}
	if len(scopes) == 0 {
		scopes = viewer.AllScopes()
	}
	if ttl < 0 || ttl > s.cfg.MaxSessionTTL {
		return "", apierr.Invalid("ttl", "must be more than 0 and at most %v", s.cfg.MaxSessionTTL)
	}
	account, err := s.accountOf(ctx, address)
	if err != nil {
		return "", err
	}
	var made minted
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		owner := account
		if owner == 0 {
			if owner, err = s.Open(ctx, tx, &address); err != nil {
				return err
			}
		}
		if plan != "" {
			if err := s.subscriptions.Grant(ctx, tx, owner, plan); err != nil {
				return err
			}
		}
		order := mintOrder{accountID: owner, scopes: inOrder(scopes)}
		if ttl > 0 {
			order.expiresAt = s.now().Add(ttl)
			if order.parentID, err = s.parent(ctx, tx, order); err != nil {
				return err
			}
		}
		made, err = s.mint(ctx, tx, order)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create a key for an address: %w", err)
	}
	return made.secret, nil
}

// parent returns a lasting key that a session with the order's scopes can hang on.
func (s *Service) parent(ctx context.Context, tx *store.Tx, order mintOrder) (int64, error) {
	lasting, err := s.rows.lasting(ctx, tx, order.accountID)
	if err != nil {
		return 0, err
	}
	for _, candidate := range lasting {
		if !slices.ContainsFunc(order.scopes, func(scope string) bool { return !slices.Contains(candidate.scopes, scope) }) {
			return candidate.id, nil
		}
	}
	made, err := s.mint(ctx, tx, mintOrder{accountID: order.accountID, scopes: order.scopes})
	return made.id, err
}

// AccountOf returns the account of an address: of several, one with a paid
// subscription, and the oldest among equals. ok is false for an unknown address.
func (s *Service) AccountOf(ctx context.Context, email string) (accountID int64, ok bool, err error) {
	address, ok := mail.Address(email)
	if !ok {
		return 0, false, nil
	}
	accountID, err = s.accountOf(ctx, address)
	return accountID, accountID != 0, err
}

// AccountsOf returns the accounts of an address, the oldest first; none for an unknown one.
func (s *Service) AccountsOf(ctx context.Context, email string) ([]int64, error) {
	address, ok := mail.Address(email)
	if !ok {
		return nil, nil
	}
	return s.rows.accountsOf(ctx, address)
}

// accountOf is AccountOf for an address in its stored form; 0 if it is unknown.
func (s *Service) accountOf(ctx context.Context, address string) (int64, error) {
	id, _, err := s.ownedBy(ctx, address)
	return id, err
}

// ownedBy returns the account of an address that is meant where it names one: with an active
// subscription, or else the oldest. several reports that it has others.
func (s *Service) ownedBy(ctx context.Context, address string) (id int64, several bool, err error) {
	ids, err := s.rows.accountsOf(ctx, address)
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	active, err := s.subscriptions.Active(ctx, ids)
	if err != nil {
		return 0, false, err
	}
	for _, id := range ids {
		if active[id] {
			return id, len(ids) > 1, nil
		}
	}
	return ids[0], len(ids) > 1, nil
}

// List returns the keys of every account of an address, oldest first.
func (s *Service) List(ctx context.Context, email string) ([]Key, error) {
	address, ok := mail.Address(email)
	if !ok {
		return nil, apierr.Invalid("email", "must be an e-mail address")
	}
	ids, err := s.rows.accountsOf(ctx, address)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.rows.keysOf(ctx, ids)
}

// Accounts returns accounts by id, from after one on; 0 begins.
func (s *Service) Accounts(ctx context.Context, after int64, limit int) ([]AccountRow, error) {
	return s.rows.accounts(ctx, after, limit)
}

// Block has every key of an account refused, or no more if lift. done is false if that was so
// already.
func (s *Service) Block(ctx context.Context, accountID int64, lift bool) (done bool, err error) {
	var at *int64
	if !lift {
		now := s.now().UnixMilli()
		at = &now
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		done, err = s.rows.block(ctx, tx, accountID, at)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("block account %d: %w", accountID, err)
	}
	return done, nil
}

// Revoke ends a key and, with it, its session keys. Ending it twice is once.
func (s *Service) Revoke(ctx context.Context, id string) error {
	number, ok := publicid.Parse(publicid.Key, id)
	if ok {
		var err error
		if ok, err = s.rows.revoke(ctx, number, s.now()); err != nil {
			return err
		}
	}
	if !ok {
		return apierr.New(apierr.NotFound, "There is no key %q.", id)
	}
	return nil
}
