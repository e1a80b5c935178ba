package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Needs are what the module needs of others.
type Needs struct {
	Owners Owners
	Mailer mail.Sender
	// Sealer returns the sealer of secrets; it is called when a secret is first needed.
	Sealer func() (*secret.Sealer, error)
}

// Owners is the need of the people behind accounts.
type Owners interface {
	// Address returns the mail address of an account, empty if it has none.
	Address(ctx context.Context, account int64) (string, error)
	// Blocked reports whether the operator has blocked an account.
	Blocked(ctx context.Context, account int64) (bool, error)
}

// Config is the module's part of the configuration.
type Config struct {
	// Timeout bounds an attempt. Default 15 s.
	Timeout time.Duration `yaml:"timeout"`
	// Concurrency is how many deliveries a process makes at once. Default 16.
	Concurrency int `yaml:"concurrency"`
	// Retries are the waits after failed attempts. Default: the specification's table.
	Retries []time.Duration `yaml:"-"`
	// Transport and Resolver are for tests; nil dials public addresses, and asks the
	// system for those of a name.
	Transport http.RoundTripper `yaml:"-"`
	Resolver  *net.Resolver     `yaml:"-"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{Timeout: 15 * time.Second, Concurrency: 16, Retries: retryWaits()}
}

// Validate reports every invalid value.
func (c Config) Validate() error {
	var faults []error
	if c.Timeout < 100*time.Millisecond || c.Timeout > time.Minute {
		faults = append(faults, fmt.Errorf("timeout: %v is not between 0.1 and 60 seconds", c.Timeout))
	}
	if c.Concurrency < 1 || c.Concurrency > 1000 {
		faults = append(faults, fmt.Errorf("concurrency: %d is not between 1 and 1000", c.Concurrency))
	}
	return errors.Join(faults...)
}

// idPrefix and deliveryPrefix begin the public ids.
const (
	idPrefix       = "whk"
	deliveryPrefix = "dlv"
	testPrefix     = "test"
)

// testKind is the type of the message of a test.
const testKind = "webhook.test"

// keepPrior is how long the secret before the current one signs too.
const keepPrior = 24 * time.Hour

// Service keeps the webhooks and delivers to them. It is safe for concurrent use.
type Service struct {
	db     *store.DB
	feed   *changes.Service
	needs  Needs
	now    func() time.Time
	sender *sender
}

// sender delivers the changes of the feed, one at a time for each webhook.
type sender struct {
	db     *store.DB
	feed   *changes.Service
	needs  Needs
	cfg    Config
	now    func() time.Time
	client *http.Client
	places *fair.Places
	// graceOfLease is what a worker may take beside an attempt.
	graceOfLease time.Duration
	// settleWithin bounds the storing of what came of an attempt.
	settleWithin time.Duration
	// lookEvery is how soon a change of another process, and a retry, is seen.
	lookEvery time.Duration
	notified  atomic.Bool
	unlisten  func()
	looked    atomic.Int64 // Unix milliseconds of the last look for changes

	mu      sync.Mutex
	running map[int64]bool // webhooks that this process delivers to
}

// New returns the module's service. Close it.
func New(db *store.DB, feed *changes.Service, cfg Config, needs Needs) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	through := cfg.Transport
	if through == nil {
		through = transport(dialer(cfg.Resolver))
	}
	to := &sender{
		db: db, feed: feed, needs: needs, cfg: cfg, client: client(through), places: fair.New(cfg.Concurrency), now: time.Now,
		running: map[int64]bool{}, graceOfLease: 5 * time.Second, lookEvery: defaultLookEvery, settleWithin: settleTimeout,
	}
	to.unlisten = db.OnNotify(func(int64) { to.notified.Store(true) })
	return &Service{db: db, feed: feed, needs: needs, now: time.Now, sender: to}, nil
}

// Close ends the notifications and the idle connections.
func (s *Service) Close() {
	s.sender.unlisten()
	s.sender.client.CloseIdleConnections()
}

func (s *sender) begin(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] {
		return false
	}
	s.running[id] = true
	return true
}

func (s *sender) end(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// seal encrypts a secret of a webhook.
func (s *Service) seal(id int64, raw []byte) ([]byte, error) {
	sealer, err := s.needs.Sealer()
	if err != nil {
		return nil, err
	}
	return sealer.Seal(raw, publicid.Format(idPrefix, id)), nil
}

// open returns the secrets that sign now, the newest first.
func (s *sender) open(w *Webhook) ([][]byte, error) {
	sealer, err := s.needs.Sealer()
	if err != nil {
		return nil, err
	}
	sealed := [][]byte{w.secret}
	if w.prior != nil && s.now().UnixMilli() < w.PriorUntil {
		sealed = append(sealed, w.prior)
	}
	secrets := make([][]byte, len(sealed))
	for i := range sealed {
		if secrets[i], err = sealer.Open(sealed[i], publicid.Format(idPrefix, w.ID)); err != nil {
			return nil, err
		}
	}
	return secrets, nil
}

// List returns the account's webhooks, oldest first.
func (s *Service) List(ctx context.Context) ([]*Webhook, error) { return s.list(ctx) }

// Create adds a webhook and returns its secret. from is where in the feed it begins.
func (s *Service) Create(ctx context.Context, address string, types changes.Types, from changes.From) (*Webhook, string, error) {
	account, _, _ := viewer.Tenant(ctx)
	cursor, err := s.feed.Start(ctx, from)
	if err != nil {
		return nil, "", err
	}
	now, raw := s.now().UnixMilli(), newSecret()
	w := &Webhook{ID: s.db.NewID(), Account: account, URL: address, Types: types, Status: Active, Cursor: cursor, NextAt: now, CreatedAt: now, UpdatedAt: now}
	if w.secret, err = s.seal(w.ID, raw); err != nil {
		return nil, "", fmt.Errorf("create webhook: %w", err)
	}
	if err := s.insert(ctx, w); err != nil {
		return nil, "", fmt.Errorf("create webhook: %w", err)
	}
	return w, showSecret(raw), nil
}

// Update changes a webhook; it returns nil if there is none. One that is started again
// begins its retries anew.
func (s *Service) Update(ctx context.Context, id int64, c Change) (*Webhook, error) {
	return s.change(ctx, id, func(w *Webhook) error {
		if c.URL != nil {
			w.URL = *c.URL
		}
		if len(c.Types) > 0 {
			w.Types, _ = parseTypes(c.Types)
		}
		if c.Paused == nil {
			return nil
		}
		if *c.Paused {
			w.Status = Paused
			return nil
		}
		w.Status, w.Failures, w.NextAt = Active, 0, s.now().UnixMilli()
		return nil
	})
}

// Rotate gives a webhook a new secret and returns it; the former one signs too for 24
// hours. It returns nil if there is no such webhook.
func (s *Service) Rotate(ctx context.Context, id int64) (w *Webhook, shown string, err error) {
	raw := newSecret()
	sealed, err := s.seal(id, raw)
	if err != nil {
		return nil, "", err
	}
	w, err = s.change(ctx, id, func(w *Webhook) error {
		w.prior, w.PriorUntil, w.secret = w.secret, s.now().Add(keepPrior).UnixMilli(), sealed
		return nil
	})
	if err != nil || w == nil {
		return nil, "", err
	}
	return w, showSecret(raw), nil
}

// Delete removes a webhook.
func (s *Service) Delete(ctx context.Context, id int64) (found bool, err error) {
	return s.remove(ctx, id)
}

// Test sends a message of its own kind at once. It returns nil if there is no such
// webhook.
func (s *Service) Test(ctx context.Context, id int64) (*Delivery, error) {
	now := s.now().UnixMilli()
	m, err := newMessage(publicid.Format(testPrefix, s.db.NewID()), testKind, now, map[string]string{"webhookId": publicid.Format(idPrefix, id)})
	if err != nil {
		return nil, err
	}
	return s.sender.sendNow(ctx, id, m)
}

// Again sends one change again at once. It returns nil if there is no such webhook or
// change, and fails with CursorExpired where the change is not kept any more.
func (s *Service) Again(ctx context.Context, id int64, changeID string) (*Delivery, error) {
	seq, ok := changes.Seq(changeID)
	if !ok {
		return nil, nil
	}
	page, err := s.feed.Read(ctx, seq-1, nil, 1)
	if err != nil || len(page.Changes) == 0 {
		return nil, err
	}
	m, err := messageOf(&page.Changes[0])
	if err != nil {
		return nil, err
	}
	return s.sender.sendNow(ctx, id, m)
}

// Replay moves a webhook to a place of the feed. It returns nil if there is none.
func (s *Service) Replay(ctx context.Context, id int64, from changes.From) (*Webhook, error) {
	cursor, err := s.feed.Start(ctx, from)
	if err != nil {
		return nil, err
	}
	if _, err := s.feed.Read(ctx, cursor, nil, 1); err != nil { // expired
		return nil, err
	}
	return s.change(ctx, id, func(w *Webhook) error {
		w.Cursor, w.Failures, w.NextAt = cursor, 0, s.now().UnixMilli()
		return nil
	})
}

// Deliveries returns a page of the attempts to deliver to a webhook, newest first.
func (s *Service) Deliveries(ctx context.Context, id, before int64, size int) (found []Delivery, next int64, err error) {
	if found, err = s.deliveries(ctx, id, before, size+1); err != nil || len(found) <= size {
		return found, 0, err
	}
	return found[:size], found[size-1].ID, nil
}

// sendNow sends one message beside the order of the feed, and stores the attempt.
func (s *sender) sendNow(ctx context.Context, id int64, m outgoing) (*Delivery, error) {
	w, err := load(ctx, s.db.Ent(), id)
	if err != nil || w == nil {
		return nil, err
	}
	secrets, err := s.open(w)
	if err != nil {
		return nil, fmt.Errorf("secret of a webhook: %w", err)
	}
	r := s.post(ctx, w.URL, secrets, m)
	d := &Delivery{ID: s.db.NewID(), MessageID: m.id, Kind: m.kind, Attempt: 1, Outcome: r.outcome, Status: r.status, Took: r.took, At: s.now().UnixMilli()}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	return d, s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.record(ctx, tx, w, *d) })
}

// faults turns what is wrong with an address and kinds into issues.
func faults(address *string, types []string) (issues []apierr.Issue) {
	if address != nil {
		if err := checkURL(strings.TrimSpace(*address)); err != nil || strings.TrimSpace(*address) != *address {
			if err == nil {
				err = errors.New("must not contain spaces")
			}
			issues = append(issues, apierr.Issue{Path: "url", Message: err.Error()})
		}
	}
	_, more := parseTypes(types)
	return append(issues, more...)
}
