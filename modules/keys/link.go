package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// LinkPath is where the app mounts the page of mailed links.
const LinkPath = "/recover/"

// maxLinked is the most accounts of one address that a link serves: those with an
// active subscription first, then the oldest.
const maxLinked = 100

// Why a link serves no one.
var (
	errLinkEnded = errors.New("the link is unknown, used or expired")
	errNotLinked = errors.New("the link does not serve the account")
)

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// linked is an account that a link serves.
type linked struct {
	// ID is the public id.
	ID string
	// Active reports an active subscription.
	Active    bool
	OpenedAt  time.Time
	Hints     []string // of its lasting keys in force: the last four characters
	accountID int64
}

// linkedBy returns the accounts that the link serves, or errLinkEnded.
func (c *Codes) linkedBy(ctx context.Context, token string) ([]linked, error) {
	found, ok, err := c.rows.codeByLink(ctx, c.db.Ent(), hashToken(token))
	if err != nil {
		return nil, err
	}
	if !ok || !found.linkValid(c.keys.now()) {
		return nil, errLinkEnded
	}
	return c.keys.accountsByMail(ctx, found.email)
}

// linkValid reports whether the link of the same mail can be used.
func (c code) linkValid(now time.Time) bool {
	return c.accountID != 0 && !c.used && now.Before(c.linkExpiresAt)
}

func (s *Service) accountsByMail(ctx context.Context, address string) ([]linked, error) {
	ids, err := s.rows.accountsOf(ctx, address)
	if err != nil {
		return nil, err
	}
	active, err := s.subscriptions.Active(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, func(a, b int64) int {
		switch {
		case active[a] == active[b]:
			return 0
		case active[a]:
			return -1
		default:
			return 1
		}
	})
	ids = ids[:min(len(ids), maxLinked)]
	hints, err := s.rows.hints(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]linked, len(ids))
	for i, id := range ids {
		out[i] = linked{
			ID: publicid.Format(publicid.Account, id), Active: active[id], OpenedAt: publicid.Time(id),
			Hints: hints[id], accountID: id,
		}
	}
	return out, nil
}

// newKeyOf is a key that a link gave, shown once.
type newKeyOf struct{ AccountID, Secret string }

// redeem uses the link: for each chosen account it ends every key and makes a new one,
// and it voids every code and link of the address. Nothing changes where it fails: with
// errLinkEnded, or with errNotLinked for an account of another address.
func (c *Codes) redeem(ctx context.Context, token string, chosen []string) (out []newKeyOf, err error) {
	first, ok, err := c.rows.codeByLink(ctx, c.db.Ent(), hashToken(token))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errLinkEnded
	}
	offered, err := c.keys.accountsByMail(ctx, first.email)
	if err != nil {
		return nil, err
	}
	err = c.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) error {
		out = nil
		if err := c.rows.lockCodes(ctx, tx, first.email); err != nil {
			return err
		}
		now := c.keys.now()
		found, ok, err := c.rows.codeByLink(ctx, tx.Ent(), hashToken(token))
		if err != nil {
			return err
		}
		if !ok || !found.linkValid(now) {
			return errLinkEnded
		}
		for _, why := range []purpose{forRecovery, forSignIn} {
			if err := c.rows.useCodes(ctx, tx, why, found.email, now); err != nil {
				return err
			}
		}
		for _, account := range offered { // in one order, so that two links do not wait for each other
			if !slices.Contains(chosen, account.ID) {
				continue
			}
			key, err := c.keys.replace(ctx, tx, account.accountID, now)
			if err != nil {
				return err
			}
			out = append(out, newKeyOf{account.ID, key})
		}
		if len(out) != len(chosen) {
			return errNotLinked
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("use a recovery link: %w", err)
	}
	return out, nil
}
