package account

import (
	"context"
	"log/slog"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Mailer delivers the links that confirm a deletion.
type Mailer interface {
	Send(ctx context.Context, message mail.Message) error
}

// Accounts knows the address of an account.
type Accounts interface {
	// EmailOf returns the address; ok is false for an account without one.
	EmailOf(ctx context.Context, accountID int64) (email string, ok bool, err error)
}

// Billing ends what an account pays for.
type Billing interface {
	// Close ends the subscription, at the provider too. Closing it again changes nothing.
	Close(ctx context.Context, accountID int64) error
}

// Files are the sandbox files of the account of the context.
type Files interface {
	// Paths returns the paths of all files, in order.
	Paths(ctx context.Context) ([]string, error)
	ReadFile(ctx context.Context, path string) (string, error)
	// EraseFiles deletes all files.
	EraseFiles(ctx context.Context) error
}

// Changes is the change feed of the account of the context.
type Changes interface {
	// After returns at most so many changes after a number, 0 for the oldest that is kept,
	// and the number to go on after; none at the end.
	After(ctx context.Context, seq int64, most int) (changes []Change, next int64, err error)
}

// Change is an entry of the feed, as callers see it.
type Change struct {
	ID          string
	Type        string
	At          int64
	VideoID     string
	ScrollID    string
	KeyID       string
	WorkspaceID string
	KeyHash     string
	Stage       string
	FailureCode string
	Status      string
	Old         *float64
	New         *float64
}

// Trends is the need of the trends that an export has.
type Trends interface {
	// CountTrends has them count all that was archived and restored.
	CountTrends(ctx context.Context) error
}

// Key is the key that made a call.
type Key struct {
	ID, Hint             string
	Session              bool
	Scopes               []string
	CreatedAt, ExpiresAt time.Time // ExpiresAt is zero for a key that does not expire
}

// Keys knows the calling key.
type Keys interface {
	// Calling returns the key that made the call of the context.
	Calling(ctx context.Context) (Key, error)
}

// Credits knows the balance of an account.
type Credits interface {
	// Balance returns the credits that can be spent, and those that calls under way hold.
	Balance(ctx context.Context, accountID int64) (free, held int64, err error)
}

// Units are what a budget has and had, and when it is whole again.
type Units struct {
	Budget, Left int64
	RenewsAt     time.Time
}

// Usage knows what is left of the budgets.
type Usage interface {
	// Units returns the budgets of the caller.
	Units(ctx context.Context) (daily, monthly Units, err error)
}

// Needs are what the module asks of others.
type Needs struct {
	Keys     Keys
	Credits  Credits
	Usage    Usage
	Changes  Changes
	Mailer   Mailer
	Accounts Accounts
	Billing  Billing
	Files    Files
	Trends   Trends
	Removals Removals
}

// Config is the module's part of the configuration.
type Config struct {
	// BaseURL is the service's public address, without a slash at the end: mailed links
	// begin with it.
	BaseURL string
	// Limits bound the calls of an account.
	Limits Limits
}

// Limits bound the calls of all keys of an account together.
type Limits struct {
	// Rate is the calls a second, Burst those that may come at once, AtOnce those that may
	// be under way.
	Rate          float64
	Burst, AtOnce int
	// StreamsPerKey and Streams are the open streams of one key and of all.
	StreamsPerKey, Streams int
}

const (
	// exports is how many exports of one process work at once. Others wait, and so do those
	// whose readers are slower than they are.
	exports = 2
	// openExports is how many there are at once, of which an account has one.
	openExports = 64
	// Grace is the time between the confirmation of a deletion and the deletion.
	Grace = 7 * 24 * time.Hour
	// linkTTL is how long a mailed link can be confirmed.
	linkTTL = 24 * time.Hour
	// mailEvery is the least time between two mails to an account.
	mailEvery = time.Minute
)

// Service exports and deletes accounts.
type Service struct {
	cfg      Config
	needs    Needs
	exporter *exporter
	Eraser   *Eraser
}

// exporter writes accounts as zip files.
type exporter struct {
	db    *store.DB
	needs Needs
	// running has a place for each export, places for each that works.
	running, places *fair.Places
	now             func() time.Time
	part            int // how many videos a file has
}

// Eraser deletes accounts, once a mailed link is confirmed and Grace is over.
type Eraser struct {
	db    *store.DB
	cfg   Config
	needs Needs
	log   *slog.Logger
	now   func() time.Time
	batch int // how many rows one transaction deletes
}

// New returns the service.
func New(db *store.DB, cfg Config, needs Needs, log *slog.Logger) *Service {
	return &Service{
		cfg: cfg, needs: needs,
		exporter: &exporter{db: db, needs: needs, running: fair.NewEach(openExports, 1), places: fair.New(exports), now: time.Now, part: 2000},
		Eraser:   &Eraser{db: db, cfg: cfg, needs: needs, log: log, now: time.Now, batch: 500},
	}
}
