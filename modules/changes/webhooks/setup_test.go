package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const account = int64(101)

// owners knows everyone's address; those of blocked, if it is set and true, are blocked.
type owners struct{ blocked *atomic.Bool }

func (owners) Address(_ context.Context, account int64) (string, error) {
	return fmt.Sprintf("owner%d@example.com", account), nil
}

func (o owners) Blocked(context.Context, int64) (bool, error) {
	return o.blocked != nil && o.blocked.Load(), nil
}

type mailbox chan mail.Message

func (m mailbox) Send(_ context.Context, message mail.Message) error {
	m <- message
	return nil
}

func sealer() (*secret.Sealer, error) {
	return secret.NewSealer("a key for tests, of 32 bytes or more")
}

// toReceiver reaches one server under every name.
func toReceiver(address string) http.RoundTripper {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is the test's
	}
}

// bundle is a running module with a receiver.
type bundle struct {
	*Service
	ctx      context.Context
	db       *store.DB
	receiver *receiver
	mails    mailbox
}

// receiver is the server of a customer.
type receiver struct {
	server *httptest.Server
	mu     sync.Mutex
	got    []received
	// answer decides on a request; nil: 200.
	answer func(w http.ResponseWriter, r *http.Request, nth int)
	came   chan struct{}
}

type received struct {
	id     string
	header http.Header
	body   []byte
	at     time.Time
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, nth int)) *receiver {
	t.Helper()
	r := &receiver{answer: answer, came: make(chan struct{}, 10_000)}
	r.server = httptest.NewTLSServer(r)
	t.Cleanup(func() { r.server.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the sender was killed
	}
	r.mu.Lock()
	r.got = append(r.got, received{request.Header.Get("webhook-id"), request.Header, body, time.Now()})
	nth := len(r.got)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, request, nth)
	}
	select {
	case r.came <- struct{}{}:
	default: // enough of them wait for their reader
	}
}

// kill ends the receiver with all its connections, and starts it again on the same address
// after a while. What came is kept, as in the database of a customer.
func (r *receiver) kill(t *testing.T, down time.Duration) {
	t.Helper()
	address := r.address()
	_ = r.server.Config.Close() // its requests end without an answer
	time.Sleep(down)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewUnstartedServer(r)
	_ = r.server.Listener.Close() // of a port of its own
	r.server.Listener = listener
	r.server.StartTLS()
}

func (r *receiver) address() string { return r.server.Listener.Addr().String() }

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// wait returns what came once there are so many requests.
func (r *receiver) wait(t *testing.T, n int) []received {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		if got := r.all(); len(got) >= n {
			return got
		}
		select {
		case <-r.came:
		case <-deadline:
			t.Fatalf("%d requests came, want %d", len(r.all()), n)
		}
	}
}

func setup(t *testing.T, db *store.DB, answer func(w http.ResponseWriter, r *http.Request, nth int), change ...func(*Config)) *bundle {
	t.Helper()
	r := newReceiver(t, answer)
	cfg := Defaults()
	cfg.Timeout, cfg.Transport = 2*time.Second, toReceiver(r.address())
	for _, c := range change {
		c(&cfg)
	}
	b := &bundle{ctx: viewer.As(t.Context(), account), db: db, receiver: r, mails: make(mailbox, 10)}
	b.Service = start(t, db, cfg, b.mails)
	return b
}

// start runs the module with a queue.
func start(t testing.TB, db *store.DB, cfg Config, mails mail.Sender) *Service {
	t.Helper()
	reader := changes.New(db, nil)
	t.Cleanup(reader.Close)
	s, err := New(db, reader, cfg, Needs{Owners: owners{}, Mailer: mails, Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.sender.lookEvery = 100 * time.Millisecond
	queue, err := jobs.NewQueue(db, s.sender.workers(), s.Periodics(), storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := queue.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

const hookURL = "https://hooks.customer.com/in"

func (b *bundle) create(t *testing.T, types ...feed.Kind) (*Webhook, string) {
	t.Helper()
	w, shown, err := b.Create(b.ctx, hookURL, types, changes.From{Now: true})
	if err != nil {
		t.Fatal(err)
	}
	return w, shown
}

// add appends changes, each in a transaction of its own, and returns their ids.
func (b *bundle) add(t *testing.T, kind feed.Kind, n int) (ids []string) {
	t.Helper()
	for i := range n {
		err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			return feed.Append(ctx, tx, feed.Change{Kind: kind, Video: int64(i + 1)})
		})
		if err != nil {
			t.Fatal(err)
		}
		head, err := b.feed.Start(b.ctx, changes.From{Now: true})
		if err != nil {
			t.Fatal(err)
		}
		c := changes.Change{Seq: head}
		ids = append(ids, c.ID())
	}
	return ids
}

// until waits until the webhook is as wanted.
func (b *bundle) until(t *testing.T, id int64, what string, is func(*Webhook) bool) *Webhook {
	t.Helper()
	var w *Webhook
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		var err error
		if w, err = load(b.ctx, b.db.Ent(), id); err != nil {
			t.Fatal(err)
		}
		if is(w) {
			return w
		}
	}
	t.Fatalf("got the webhook %+v, want it %s", w, what)
	return nil
}
