package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// locksmith answers Keys with real rows, so that a rolled back claim leaves none.
type locksmith struct {
	db     *store.DB
	broken bool // Unbroken answers the opposite
	fail   bool
}

func (l *locksmith) Open(ctx context.Context, tx *store.Tx, email *string) (int64, error) {
	id := l.db.NewID()
	return id, tx.Ent().Account.Create().SetID(id).SetNillableEmail(email).SetCreatedAt(1).Exec(ctx)
}

func (l *locksmith) Unbroken(context.Context, *store.Tx, int64, time.Time) (bool, error) {
	return !l.broken, nil
}

func (l *locksmith) Mint(ctx context.Context, tx *store.Tx, account int64) (string, error) {
	id := l.db.NewID()
	secret := fmt.Sprintf("key-%d", id)
	err := tx.Ent().Key.Create().
		SetID(id).SetAccountID(account).SetHash([]byte(secret)).SetScopes("").SetHint("").SetCreatedAt(1).
		Exec(viewer.As(ctx, account))
	if l.fail {
		err = errors.New("no key today")
	}
	return secret, err
}

// ledger answers Credits in memory, forgetting nothing of a transaction that fails:
// the real ledger has tests of its own.
type ledger struct {
	mu    sync.Mutex
	done  map[string]bool
	cents map[int64]int64
}

func (p *ledger) Add(_ context.Context, _ *store.Tx, account, credits int64, reference, _ string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done[reference] {
		p.done[reference] = true
		p.cents[account] += credits
	}
	return nil
}

func (p *ledger) TakeBack(ctx context.Context, tx *store.Tx, account, credits int64, reference string) error {
	return p.Add(ctx, tx, account, -credits, reference, "")
}

func (p *ledger) Balance(_ context.Context, account int64) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cents[account], nil
}

// till answers Provider by what the test says.
type till struct {
	mu     sync.Mutex
	next   int
	states map[string]State
	email  string
	down   bool
}

func (p *till) Create(context.Context, Order) (session, url string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return "", "", errors.New("connection refused to 10.0.0.7")
	}
	p.next++
	session = fmt.Sprintf("till_%d", p.next)
	p.states[session] = Open
	return session, "https://pay.example/" + session, nil
}

func (p *till) State(_ context.Context, session string) (Payment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return Payment{}, errors.New("connection refused to 10.0.0.7")
	}
	return Payment{State: p.states[session], Email: p.email}, nil
}

func (p *till) set(url string, state State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.states[strings.TrimPrefix(url, "https://pay.example/")] = state
}

type bundle struct {
	*Service
	smith  *locksmith
	till   *till
	ledger *ledger
	clock  time.Time
}

func setup(t testing.TB, db *store.DB) *bundle {
	t.Helper()
	b := &bundle{
		smith:  &locksmith{db: db},
		till:   &till{states: map[string]State{}, email: "ana@example.com"},
		ledger: &ledger{done: map[string]bool{}, cents: map[int64]int64{}},
		clock:  time.Now().Truncate(time.Millisecond),
	}
	now := func() time.Time { return b.clock }
	subscriptions := NewSubscriptions(db, Defaults())
	subscriptions.now = now
	b.Service = New(db, Defaults(), b.smith, b.ledger, b.till, subscriptions, storetest.Log(t))
	b.now = now
	return b
}

func (b *bundle) begin(t testing.TB, ctx context.Context) (url, token string) {
	t.Helper()
	url, token, err := b.Subscribe(ctx, "pro", Annual)
	if err != nil {
		t.Fatal(err)
	}
	return url, token
}

func (b *bundle) claim(t testing.TB, token string) Claim {
	t.Helper()
	claim, err := b.ClaimSubscription(context.Background(), token)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}
