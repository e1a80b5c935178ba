package keys

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/keys/form"
)

// postbox takes the mail of a test.
type postbox struct {
	mu      sync.Mutex
	letters []mail.Message
	broken  bool
	arrived chan mail.Message
}

func (p *postbox) Send(_ context.Context, message mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return errors.New("the mail server is away")
	}
	p.letters = append(p.letters, message)
	select {
	case p.arrived <- message:
	default:
	}
	return nil
}

func (p *postbox) taken() []mail.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.letters
	p.letters = nil
	return out
}

// payers answers Subscriptions.
type payers struct {
	mu     sync.Mutex
	active map[int64]bool
	grants map[int64]string
}

func (p *payers) Active(_ context.Context, ids []int64) (map[int64]bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[int64]bool{}
	for _, id := range ids {
		out[id] = p.active[id]
	}
	return out, nil
}

func (p *payers) Grant(_ context.Context, _ *store.Tx, id int64, plan string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if plan != "standard" && plan != "pro" {
		return errors.New("no such plan")
	}
	p.grants[id] = plan
	return nil
}

type bundle struct {
	*Service
	post  *postbox
	payer *payers
	clock time.Time
}

func setup(t testing.TB, db *store.DB) *bundle {
	t.Helper()
	b := &bundle{
		post:  &postbox{arrived: make(chan mail.Message, 8)},
		payer: &payers{active: map[int64]bool{}, grants: map[int64]string{}},
		clock: time.Now().Truncate(time.Millisecond),
	}
	b.Service = New(db, Defaults(), b.post, b.payer, slog.New(slog.DiscardHandler))
	b.now = func() time.Time { return b.clock }
	return b
}

// open makes an account with a key.
func (b *bundle) open(t testing.TB, email string) (account int64, key string) {
	t.Helper()
	err := b.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) (err error) {
		if account, err = b.Open(ctx, tx, &email); err != nil {
			return err
		}
		key, err = b.Mint(ctx, tx, account)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return account, key
}

// state reads a key as admission does.
func (b *bundle) state(t testing.TB, text string) (state State, who *viewer.Viewer) {
	t.Helper()
	digest, session, ok := form.Digest(text)
	if !ok {
		t.Fatalf("got %q, want the text of a key", text)
	}
	state.Session = session
	who = &viewer.Viewer{Session: session, Scopes: viewer.AllScopes()}
	storetest.Rows(t, b.db, func(rows *sql.Rows) error {
		state.Found = true
		return rows.Scan(&who.KeyID, &who.AccountID, &state.ExpiresAt, &state.RevokedAt,
			&state.ParentFound, &state.ParentExpiresAt, &state.ParentRevokedAt)
	}, `SELECT k.id, k.account_id, k.expires_at, k.revoked_at, p.id IS NOT NULL, p.expires_at, p.revoked_at
FROM keys k LEFT JOIN keys p ON p.id = k.parent_id WHERE k.hash = $1`, digest)
	return state, who
}

// inForce is nil for a key that opens.
func (b *bundle) inForce(t testing.TB, text string) error {
	t.Helper()
	state, _ := b.state(t, text)
	return state.Check(b.clock)
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// code has one mailed to the address and returns it.
func (b *bundle) code(t testing.TB, email string) string {
	t.Helper()
	if err := b.Codes.send(context.Background(), forRecovery, email); err != nil {
		t.Fatal(err)
	}
	letters := b.post.taken()
	if len(letters) != 1 || letters[0].To != email {
		t.Fatalf("got letters %v, want one to %s", letters, email)
	}
	digits := sixDigits.FindString(letters[0].Text)
	if digits == "" {
		t.Fatalf("got %q, want six digits in it", letters[0].Text)
	}
	return digits
}

func (b *bundle) reissue(t testing.TB, email, digits string) (status, key string) {
	t.Helper()
	status, key, err := b.Codes.Reissue(context.Background(), email, digits, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return status, key
}

// wrong returns six digits that are not these.
func wrong(digits string) string {
	if digits == "000000" {
		return "000001"
	}
	return "000000"
}
