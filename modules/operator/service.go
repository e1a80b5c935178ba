package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Keys makes and revokes keys.
type Keys interface {
	// CreateForEmail returns the secret of a new key of the account of an address. It
	// opens a complimentary account if there is none.
	CreateForEmail(ctx context.Context, email, plan string, scopes []string, ttl time.Duration) (string, error)
	Revoke(ctx context.Context, id string) error
	// AccountsOf returns the accounts of an address, the oldest first.
	AccountsOf(ctx context.Context, email string) ([]int64, error)
	// AccountOf finds the account of an address; of several, the one that pays or is the oldest.
	AccountOf(ctx context.Context, email string) (accountID int64, ok bool, err error)
}

// Accounts lists keys and accounts.
type Accounts interface {
	// List returns the keys of every account of an address, oldest first.
	List(ctx context.Context, email string) ([]Key, error)
	// Accounts returns at most limit accounts by id, after one; 0 begins.
	Accounts(ctx context.Context, after int64, limit int) ([]AccountRow, error)
	// Block blocks an account, or ends that if lift. done is false if it was so already.
	Block(ctx context.Context, accountID int64, lift bool) (done bool, err error)
}

// Subscriptions returns the subscription of an account.
type Subscriptions interface {
	Of(ctx context.Context, accountID int64) (Subscription, error)
	// Change gives the account another plan for nothing, or ends what it has where plan is empty.
	// It fails for one that pays.
	Change(ctx context.Context, accountID int64, plan string) error
	// Limit sets limits of the account instead of its plan's, each as `name=value`.
	Limit(ctx context.Context, accountID int64, changes []string) error
}

// Leavers deletes accounts.
type Leavers interface {
	// Order has the deletion of an account begin at a time.
	Order(ctx context.Context, accountID int64) (at time.Time, err error)
	// Due is when the deletion of an account begins; zero if none is ordered.
	Due(ctx context.Context, accountID int64) (time.Time, error)
	// CallOff calls off a deletion that has not begun; done is false if there is none.
	CallOff(ctx context.Context, accountID int64) (done bool, err error)
}

// Credits is the ledger.
type Credits interface {
	Balance(ctx context.Context, accountID int64) (Balance, error)
	// Entries returns the newest movements.
	Entries(ctx context.Context, accountID int64, limit int) ([]Movement, error)
	// Grant gives credits once for a reference, and Take takes them, down to what is free; the
	// rest is owed. With a reference of another number of credits they fail.
	Grant(ctx context.Context, accountID, credits int64, reference string) (Balance, error)
	Take(ctx context.Context, accountID, credits int64, reference string) (Balance, error)
}

// Scrolls lists and cancels scrolls.
type Scrolls interface {
	// List returns the newest scrolls that the context may see; with a status, those that have it.
	List(ctx context.Context, status string, limit int) ([]ScrollLine, error)
	// Again starts a scroll for what one of any tenant was for, and returns its id; empty for an
	// unknown one.
	Again(ctx context.Context, id string) (string, error)
	// Stop cancels every scroll of an account that has not ended.
	Stop(ctx context.Context, accountID int64) error
	// Verdicts returns the newest verdicts of the tenant of the context; an empty
	// scroll stands for all of them.
	Verdicts(ctx context.Context, scroll string, droppedOnly bool, limit int) ([]stage.Verdict, error)
	// Cancel cancels a scroll of any tenant. done is false for one that had ended with
	// the status; the status is empty for an unknown one.
	Cancel(ctx context.Context, id string) (status string, done bool, err error)
}

// ReadingOrder is what the files of an import have.
type ReadingOrder struct {
	// Next returns readings, which have their times; in the end io.EOF.
	Next func() ([]Reading, error)
	// Stream takes the readings of the first day as they come.
	Stream bool
	// Stored is called as readings are stored.
	Stored func(readings, total int)
}

// Importer takes videos from files into the library of the tenant of the context.
type Importer interface {
	// Import takes readings as one run for each day of observation, and for each further
	// reading of a video on it. With an error, Imported counts what was imported before it.
	Import(ctx context.Context, order ReadingOrder) (Imported, error)
}

// Quotas lists what sites allow the plugins, and how much of it is used.
type Quotas interface {
	Quotas(ctx context.Context) ([]Quota, error)
}

// Creators erases creators from all libraries.
type Creators interface {
	// Held returns what all libraries have, by source.
	Held(ctx context.Context) ([]Held, error)
	Erase(ctx context.Context, order EraseOrder) (*Receipt, error)
	// CheckReceipt refuses a text that is no receipt of this server.
	CheckReceipt(text []byte) (*Receipt, error)
}

// Needs are what the module asks of others.
type Needs struct {
	Creators      Creators
	Secrets       Secrets
	Keys          Keys
	Accounts      Accounts
	Subscriptions Subscriptions
	Credits       Credits
	Scrolls       Scrolls
	Importer      Importer
	Quotas        Quotas
	Restorer      Restorer
	Leavers       Leavers
}

// Config is the module's part of the configuration.
type Config struct {
	// SandboxDir holds the files of accounts.
	SandboxDir string
	// TokensDir holds the tokens that plugins renewed, sealed; it need not exist.
	TokensDir string
	// RemovedDir holds the log of removals; it need not exist.
	RemovedDir string
	// KeyFile has the key of sealed secrets; it need not exist.
	KeyFile string
	// Keys are the server's: of that file, or of the configuration.
	Keys *secret.Keys
}

// Service does the work of the commands. It is safe for concurrent use.
type Service struct {
	db    *store.DB
	cfg   Config
	needs Needs
}

// New returns the service.
func New(db *store.DB, cfg Config, needs Needs) *Service {
	return &Service{db: db, cfg: cfg, needs: needs}
}

// tenant returns a context that acts for the account of an address.
func (s *Service) tenant(ctx context.Context, email string) (context.Context, error) {
	account, ok, err := s.needs.Keys.AccountOf(viewer.System(ctx), email)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, unknownAddress(email)
	}
	return viewer.As(ctx, account), nil
}

func unknownAddress(email string) error { return fmt.Errorf("no account has the address %s", email) }

// Quotas returns how much is used of what sites allow.
func (s *Service) Quotas(ctx context.Context) ([]Quota, error) { return s.needs.Quotas.Quotas(ctx) }
