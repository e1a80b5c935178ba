package keys

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/keys/form"
)

// Mailer delivers the one-time codes.
type Mailer interface {
	Send(ctx context.Context, message mail.Message) error
}

// Subscriptions says who pays; the module billing answers it.
type Subscriptions interface {
	// Active returns which of the accounts have a paid subscription.
	Active(ctx context.Context, accountIDs []int64) (map[int64]bool, error)
	// Grant gives the account the plan for nothing, unless it pays for one.
	Grant(ctx context.Context, tx *store.Tx, accountID int64, plan string) error
}

// Config is the module's part of the configuration.
type Config struct {
	// SessionTTL is the lifetime of a session key where none is asked for.
	// Default: 1 hour.
	SessionTTL time.Duration `yaml:"session_ttl"`
	// MaxSessionTTL is the longest lifetime of a session key. Default: 24 hours.
	MaxSessionTTL time.Duration `yaml:"max_session_ttl"`
	// CodeTTL is how long a one-time code is valid. Default: 10 minutes.
	CodeTTL time.Duration `yaml:"code_ttl"`
	// LinkTTL is how long the link in the same mail is valid. Default: 30 minutes.
	LinkTTL time.Duration `yaml:"link_ttl"`
	// CodeTries is how many codes one client address may try against the one that was
	// sent. Default: 5.
	CodeTries int `yaml:"code_tries"`
	// CodeGuesses is how many codes all clients together may try against it; the link
	// of the same mail is valid beyond that. Default: 100.
	CodeGuesses int `yaml:"code_guesses"`
	// GuessesPerHour is how many wrong guesses at codes of accounts this process takes in
	// an hour, for all addresses. Beyond it, keys are recovered by links alone, a code to sign in
	// has one try of each client and five in all, and an operator is told. Default: 3,000.
	GuessesPerHour int `yaml:"guesses_per_hour"`
	// MailsPerHour bounds the codes sent to one address. Default: 3.
	MailsPerHour int `yaml:"mails_per_hour"`
	// BaseURL is the service's public address, without a slash at the end: mailed
	// links begin with it.
	BaseURL string `yaml:"-"`
}

// Defaults returns the configuration of a local server.
func Defaults() Config {
	return Config{
		SessionTTL: time.Hour, MaxSessionTTL: 24 * time.Hour,
		CodeTTL: 10 * time.Minute, LinkTTL: 30 * time.Minute,
		CodeTries: 5, CodeGuesses: 100, GuessesPerHour: 3000, MailsPerHour: 3,
		BaseURL: "http://127.0.0.1:8080",
	}
}

// Validate reports every value out of bounds.
func (c Config) Validate() error {
	var faults []error
	if c.SessionTTL <= 0 || c.SessionTTL > c.MaxSessionTTL {
		faults = append(faults, fmt.Errorf("session lifetime %v: want more than 0, at most %v", c.SessionTTL, c.MaxSessionTTL))
	}
	if c.CodeTTL <= 0 || c.CodeTTL > time.Hour {
		faults = append(faults, fmt.Errorf("code lifetime %v: want more than 0, at most an hour", c.CodeTTL))
	}
	if c.LinkTTL <= 0 || c.LinkTTL > time.Hour {
		faults = append(faults, fmt.Errorf("link lifetime %v: want more than 0, at most an hour", c.LinkTTL))
	}
	if c.CodeTries < 1 || c.CodeGuesses < c.CodeTries || c.CodeGuesses > 1000 {
		faults = append(faults, fmt.Errorf("code tries %d, guesses %d: want at least 1 try, and from that many to 1000 guesses", c.CodeTries, c.CodeGuesses))
	}
	if c.GuessesPerHour < 1 || c.MailsPerHour < 1 {
		faults = append(faults, errors.New("guesses and mails an hour: want at least 1"))
	}
	return errors.Join(faults...)
}

// Service keeps accounts and their keys.
type Service struct {
	// Codes are for accounts whose key is lost, and for sign-ins.
	Codes *Codes

	rows          rows
	db            *store.DB
	cfg           Config
	subscriptions Subscriptions
	log           *slog.Logger
	now           func() time.Time
}

// Codes mails one-time codes and links, and checks them.
type Codes struct {
	keys   *Service
	rows   rows
	db     *store.DB
	cfg    Config
	mailer Mailer
	log    *slog.Logger
	wrong  *guesses
	// dummy is the code that is checked if there is none, so that the work
	// is the same.
	dummy code
}

// OnGuessing sets what is called when GuessesPerHour is reached, once an hour at most. Call it
// before the service is used.
func (c *Codes) OnGuessing(alarm func()) { c.wrong.alarm = alarm }

// New returns the service.
func New(db *store.DB, cfg Config, mailer Mailer, subscriptions Subscriptions, log *slog.Logger) *Service {
	s := &Service{rows: rows{db}, db: db, cfg: cfg, subscriptions: subscriptions, log: log, now: time.Now}
	s.Codes = &Codes{
		keys: s, rows: s.rows, db: db, cfg: cfg, mailer: mailer, log: log,
		wrong: &guesses{limit: cfg.GuessesPerHour, log: log, alarm: func() {}},
		dummy: newCode("", 0, secret.New(), s.now(), s.now()),
	}
	return s
}

// Open makes a new account. email may be nil. An address opens as many accounts
// as pay with it: no one has proved to read its mail, so none may enter an
// account that exists.
func (s *Service) Open(ctx context.Context, tx *store.Tx, email *string) (accountID int64, err error) {
	var address string
	if email != nil {
		var ok bool
		if address, ok = mail.Address(*email); !ok {
			// What a payment provider took for an address is no reason to keep
			// the customer out; the key cannot be recovered by mail then.
			s.log.WarnContext(ctx, "an account was opened without its mail address, which has no usable form")
		}
	}
	accountID = s.db.NewID()
	if err := s.rows.addAccount(ctx, tx, accountID, address, s.now()); err != nil {
		return 0, fmt.Errorf("open account: %w", err)
	}
	return accountID, nil
}

// Mint makes a lasting key with every scope.
func (s *Service) Mint(ctx context.Context, tx *store.Tx, accountID int64) (string, error) {
	minted, err := s.mint(ctx, tx, mintOrder{accountID: accountID, scopes: viewer.AllScopes()})
	return minted.secret, err
}

// mintOrder describes a key to be made. parentID and expiresAt are those of a
// session key, zero for a lasting one.
type mintOrder struct {
	accountID, parentID int64
	scopes              []string
	expiresAt           time.Time
}

type minted struct {
	id     int64
	secret string
}

func (s *Service) mint(ctx context.Context, tx *store.Tx, order mintOrder) (minted, error) {
	prefix := form.Session
	if order.parentID == 0 {
		prefix = form.Live
		if err := s.hold(ctx, tx, order.accountID); err != nil {
			return minted{}, err
		}
	}
	made := minted{id: s.db.NewID(), secret: form.New(prefix)}
	if err := s.rows.addKey(ctx, tx, made, order, s.now()); err != nil {
		return minted{}, fmt.Errorf("mint key for %d: %w", order.accountID, err)
	}
	return made, audit.Write(ctx, tx, s.db.NewID(), audit.Entry{
		AccountID: order.accountID, Action: "key.mint", Subject: publicid.Format(publicid.Key, made.id),
		Detail: scopesText(order.scopes),
	})
}

// scopesText names scopes for people.
func scopesText(scopes []string) string {
	if len(scopes) == len(viewer.AllScopes()) {
		return "every scope"
	}
	return strings.Join(scopes, " ")
}

// hold keeps other transactions from minting or revoking the account's lasting
// keys, so that none slips past a reissue.
func (s *Service) hold(ctx context.Context, tx *store.Tx, accountID int64) error {
	return tx.Lock(ctx, "keys", accountID)
}

// Unbroken reports whether a full lasting key of the account, minted by that
// moment, is still in force. What was promised to a key that a reissue ended
// since is void.
func (s *Service) Unbroken(ctx context.Context, tx *store.Tx, accountID int64, since time.Time) (bool, error) {
	if err := s.hold(ctx, tx, accountID); err != nil {
		return false, err
	}
	lasting, err := s.rows.lasting(ctx, tx, accountID)
	if err != nil {
		return false, err
	}
	for _, key := range lasting {
		if key.createdAt <= since.UnixMilli() && len(key.scopes) == len(viewer.AllScopes()) {
			return true, nil
		}
	}
	return false, nil
}

// Session is a short-lived key, shown once.
type Session struct {
	Secret    string
	ID        string
	Scopes    []string
	ExpiresAt time.Time
}

// CreateSession mints a session key under the caller's own, with some of its
// scopes: all of them where none are named. A zero ttl is the configured one. A
// session key mints none: it could outlive its own end that way.
func (s *Service) CreateSession(ctx context.Context, scopes []string, ttl time.Duration) (Session, error) {
	caller := viewer.FromContext(ctx)
	if caller == nil || caller.KeyID == 0 {
		return Session{}, Refused()
	}
	if caller.Session {
		return Session{}, forbidden("keys:write", caller.Scopes, "A session key cannot mint another one; use a lasting key.")
	}
	scopes, err := subset(caller.Scopes, scopes)
	if err != nil {
		return Session{}, err
	}
	if ttl == 0 {
		ttl = s.cfg.SessionTTL
	}
	if err := s.checkTTL(ttl); err != nil {
		return Session{}, err
	}
	order := mintOrder{accountID: caller.AccountID, parentID: caller.KeyID, scopes: scopes, expiresAt: s.now().Add(ttl)}
	var made minted
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		made, err = s.mint(ctx, tx, order)
		return err
	})
	if err != nil {
		return Session{}, err
	}
	return Session{
		Secret: made.secret, ID: publicid.Format(publicid.Key, made.id),
		Scopes: scopes, ExpiresAt: time.UnixMilli(order.expiresAt.UnixMilli()),
	}, nil
}

// checkTTL refuses a lifetime that no session key may have.
func (s *Service) checkTTL(ttl time.Duration) error {
	if ttl <= 0 || ttl > s.cfg.MaxSessionTTL {
		return apierr.Invalid("ttlSeconds", "must be from 1 to %d", int(s.cfg.MaxSessionTTL.Seconds()))
	}
	return nil
}

// subset returns the wanted scopes in their usual order.
func subset(granted, wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return granted, nil
	}
	if err := known(wanted); err != nil {
		return nil, err
	}
	for _, scope := range wanted {
		if !slices.Contains(granted, scope) {
			return nil, forbidden(scope, granted, "The key lacks the scope "+scope+".")
		}
	}
	return inOrder(wanted), nil
}

// known reports every scope that does not exist.
func known(scopes []string) error {
	var issues []apierr.Issue
	for i, scope := range scopes {
		if !slices.Contains(viewer.AllScopes(), scope) {
			issues = append(issues, apierr.Issue{
				Path:    fmt.Sprintf("scopes[%d]", i),
				Message: "must be one of " + strings.Join(viewer.AllScopes(), ", "),
			})
		}
	}
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

func inOrder(scopes []string) []string {
	return slices.DeleteFunc(viewer.AllScopes(), func(scope string) bool { return !slices.Contains(scopes, scope) })
}

func forbidden(scope string, granted []string, message string) error {
	return &apierr.Error{Kind: apierr.Forbidden, Message: message, RequiredScope: scope, GrantedScopes: granted}
}
