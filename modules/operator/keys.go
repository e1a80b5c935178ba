package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// KeyOrder asks for a key of a complimentary account.
type KeyOrder struct {
	// Email of the account; a known one gets one more key.
	Email string
	// Plan is `standard` or `pro`; empty for that of a known account.
	Plan string
	// Scopes are all when empty.
	Scopes []string
	// TTL above 0 makes a session key.
	TTL time.Duration
}

// Validate reports what cannot be made; maxTTL is the longest lifetime of a session
// key.
func (k KeyOrder) Validate(maxTTL time.Duration) error {
	var faults []error
	if _, ok := mail.Address(k.Email); !ok {
		faults = append(faults, fmt.Errorf("--email %q is not an e-mail address", k.Email))
	}
	if k.Plan != "" && !KnownPlan(k.Plan) {
		faults = append(faults, fmt.Errorf("--plan %q is neither standard nor pro", k.Plan))
	}
	for _, scope := range k.Scopes {
		if !slices.Contains(viewer.AllScopes(), scope) {
			faults = append(faults, fmt.Errorf("--scopes: there is no %q; there are %s", scope, strings.Join(viewer.AllScopes(), ", ")))
		}
	}
	if k.TTL < 0 || k.TTL > maxTTL {
		faults = append(faults, fmt.Errorf("--ttl %v is not between 0 and %v", k.TTL, maxTTL))
	}
	return errors.Join(faults...)
}

// CreateKey returns a new key; it is not shown again. It changes no plan; an
// account without one gets the order's.
func (s *Service) CreateKey(ctx context.Context, order KeyOrder) (string, error) {
	account, known, err := s.needs.Keys.AccountOf(viewer.System(ctx), order.Email)
	if err != nil {
		return "", err
	}
	if !known && order.Plan == "" {
		return "", errors.New("there is no account of the address: open one with --plan standard or --plan pro")
	}
	if known {
		sub, err := s.needs.Subscriptions.Of(ctx, account)
		if err != nil {
			return "", err
		}
		if sub.Status == activeStatus {
			if order.Plan != "" && order.Plan != sub.Plan {
				return "", fmt.Errorf("the account has %s: change that with `scrollery admin accounts plan %s --plan %s`, then leave --plan out", sub.Plan, order.Email, order.Plan)
			}
			order.Plan = sub.Plan
		}
	}
	return s.needs.Keys.CreateForEmail(asOperator(ctx), order.Email, order.Plan, order.Scopes, order.TTL)
}

// KeyLine is a key in a list. State is `active`, `session`, `expired` or `revoked`.
type KeyLine struct {
	ID, Hint, State string
	Created         time.Time
	Scopes          []string
}

// Keys lists the keys of an address.
func (s *Service) Keys(ctx context.Context, email string) ([]KeyLine, error) {
	found, err := s.needs.Accounts.List(viewer.System(ctx), email)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, unknownAddress(email)
	}
	return keyLines(found), nil
}

func keyLines(found []Key) []KeyLine {
	lines := make([]KeyLine, 0, len(found))
	for _, key := range found {
		lines = append(lines, KeyLine{ID: key.ID, Hint: key.Hint, State: key.state(time.Now()), Created: key.CreatedAt.UTC(), Scopes: key.Scopes})
	}
	return lines
}

// OpenKeys lists the keys, and session keys, that open the account of an id or an address.
func (s *Service) OpenKeys(ctx context.Context, name string) ([]KeyLine, error) {
	row, err := s.known(ctx, name)
	if err != nil || row.Email == "" {
		return nil, err
	}
	found, err := s.needs.Accounts.List(viewer.System(ctx), row.Email)
	if err != nil {
		return nil, err
	}
	account := publicid.Format(publicid.Account, row.ID)
	return keyLines(slices.DeleteFunc(found, func(k Key) bool {
		state := k.state(time.Now())
		return k.AccountID != account || state == "revoked" || state == "expired"
	})), nil
}

func (k Key) state(now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(now):
		return "expired"
	case k.Session:
		return "session"
	}
	return "active"
}

// RevokeKeyOf is RevokeKey for a key that opens the account of an id or an address.
func (s *Service) RevokeKeyOf(ctx context.Context, name, id string) error {
	open, err := s.OpenKeys(ctx, name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(open, func(k KeyLine) bool { return k.ID == id }) {
		return fmt.Errorf("no key %.40s opens %s", id, name)
	}
	return s.RevokeKey(ctx, id)
}

// RevokeKey ends a key and its session keys.
func (s *Service) RevokeKey(ctx context.Context, id string) error {
	return s.needs.Keys.Revoke(asOperator(ctx), id)
}
