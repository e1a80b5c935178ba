package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Own is what an account set for one source by itself. Its secrets are sealed; see [Accounts.Open].
type Own struct {
	Source string
	// Hints are the last characters of each secret by its name, empty for a short one.
	Hints    map[string]string
	Settings map[string]string
	// UpdatedAt is when the account set it last, Unix milliseconds.
	UpdatedAt int64

	account int64
	sealed  []byte
}

// hint is the end of a secret that is long enough that the end says little of it.
func hint(secret string) string {
	const shown, long = 4, 16
	text := []rune(secret)
	if len(text) < long {
		return ""
	}
	return string(text[len(text)-shown:])
}

// place is where the secrets of an account's source open.
func place(account int64, source string) string {
	return "source " + strconv.FormatInt(account, 10) + " " + source
}

// secrets are what a row has sealed.
type secrets struct {
	// Set are those that the account set, Renewed the newest of those that the source renewed.
	Set     map[string]string `json:"set"`
	Renewed map[string]string `json:"renewed,omitempty"`
}

// newest are the secrets that a call gets.
func (s secrets) newest() map[string]string {
	all := maps.Clone(s.Set)
	maps.Copy(all, s.Renewed)
	return all
}

// Sealer returns the sealer of secrets; it is called whenever one is needed.
type Sealer func() (*secret.Sealer, error)

// Accounts keeps what accounts set for sources by themselves.
type Accounts struct {
	rows   ownRows
	sealer Sealer
}

// NewAccounts returns what is kept in db.
func NewAccounts(db *store.DB, sealer Sealer) *Accounts { return &Accounts{ownRows{db}, sealer} }

// ErrUnopened is the error of secrets that the server's key does not open.
var ErrUnopened = errors.New("the stored secrets cannot be opened with the server's key: set them again")

// List returns what the tenant of the context set, by id of the source; nothing for a
// context without a tenant.
func (a *Accounts) List(ctx context.Context) ([]Own, error) {
	if _, all, ok := viewer.Tenant(ctx); !ok || all {
		return nil, nil
	}
	owned, err := a.rows.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list own sources: %w", err)
	}
	return owned, nil
}

// Open returns the secrets by name, the newest ones. The error is ErrUnopened if the server's
// key does not open them.
func (a *Accounts) Open(own Own) (map[string]string, error) {
	opened, err := a.open(own)
	return opened.newest(), err
}

func (a *Accounts) open(own Own) (opened secrets, err error) {
	sealer, err := a.sealer()
	if err != nil {
		return opened, err
	}
	plain, err := sealer.Open(own.sealed, place(own.account, own.Source))
	if err == nil {
		err = json.Unmarshal(plain, &opened)
	}
	if err != nil {
		return secrets{}, ErrUnopened
	}
	return opened, nil
}

func (a *Accounts) seal(own *Own, all secrets) error {
	sealer, err := a.sealer()
	if err != nil {
		return err
	}
	plain, err := json.Marshal(all)
	if err != nil {
		return err
	}
	own.sealed = sealer.Seal(plain, place(own.account, own.Source))
	return nil
}

// Keep stores a secret that a source renewed, unless the account set another one since own was
// listed. It is durable when Keep returns.
func (a *Accounts) Keep(ctx context.Context, own Own, name, value string) error {
	before, err := a.open(own)
	if err != nil {
		return err
	}
	err = a.rows.change(ctx, own.Source, "", func(now *Own) (bool, error) {
		if len(now.sealed) == 0 { // removed meanwhile
			return false, nil
		}
		opened, err := a.open(*now)
		if err != nil || opened.Set[name] != before.Set[name] {
			return false, err
		}
		if opened.Renewed == nil {
			opened.Renewed = map[string]string{}
		}
		opened.Renewed[name] = value
		return true, a.seal(now, opened)
	})
	if err != nil {
		return fmt.Errorf("keep a renewed secret of %s: %w", own.Source, err)
	}
	return nil
}

// Change is what an account sets for a source.
type Change struct {
	Source string
	// Secrets replace those of the same names; the others stay.
	Secrets map[string]string
	// Settings replace all; nil leaves them.
	Settings map[string]string
}

// set stores a change if check accepts what is there with it. Both maps of check have what the
// source would be given.
func (a *Accounts) set(ctx context.Context, c Change, now int64, check func(secrets, settings map[string]string) error) error {
	return a.rows.change(ctx, c.Source, "source.set", func(own *Own) (bool, error) {
		opened, err := a.open(*own)
		if errors.Is(err, ErrUnopened) { // a new row, or one that is to be set again as a whole
			opened, err = secrets{}, nil
			own.Hints = map[string]string{}
		}
		if err != nil {
			return false, err
		}
		if opened.Set == nil {
			opened.Set = map[string]string{}
		}
		for name, value := range c.Secrets {
			opened.Set[name], own.Hints[name] = value, hint(value)
			delete(opened.Renewed, name)
		}
		if c.Settings != nil {
			own.Settings = c.Settings
		}
		own.UpdatedAt = now
		if err := check(opened.Set, own.Settings); err != nil {
			return false, err
		}
		return true, a.seal(own, opened)
	})
}

// isSecret reports whether a text can be sent as a key: so long that the log can leave it out
// wherever it stands, and without control characters and spaces.
func isSecret(text string) bool {
	const least = 6
	for _, r := range text {
		if r <= ' ' || r == 0x7f || r == utf8.RuneError {
			return false
		}
	}
	return len(text) >= least
}
