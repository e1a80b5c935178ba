package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestMoneyInterleavings sends 60 or 500 customers through one server that is killed
// with SIGKILL again and again, while Stripe is busy, broken, slow and silent, and
// its notices are lost, doubled, delayed, reordered and forged. In the end whoever
// paid has a key that works and what he paid for, once, and no one else has
// anything.
//
// A customer's decisions follow from the seed and his number alone; when exactly a
// process dies is up to the machine. SCROLLERY_TEST_SEED runs another seed, and
// SCROLLERY_TEST_CUSTOMER one customer of it.
func TestMoneyInterleavings(t *testing.T) {
	t.Parallel()
	seed, customers := uint64(7), 60
	if storetest.Long() {
		customers = 500
	}
	if text := os.Getenv("SCROLLERY_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	eachBusiness(t, townConfig, func(t *testing.T, b *business) {
		town := newTown(t, b, seed)
		began := time.Now()
		town.open(t, customers)
		town.settle(t)
		t.Logf("seed %d: %d customers, %d kills, %v; %v", seed, len(town.customers), town.kills, time.Since(began).Round(time.Millisecond), town.did)
		if t.Failed() {
			t.Logf("run it again with SCROLLERY_TEST_SEED=%d", seed)
		}
	})
}

// townConfig waits for Stripe as long as a test can, and asks it unasked soon.
const townConfig = `
billing: {reconcile_every: 2s, reconcile_after: 2s, sync_after: 2s, stripe: {timeout: 150ms}}
keys: {mails_per_hour: 100}
`

const (
	// crowd is how many customers are about at once.
	crowd = 12
	// owners have accounts from the start, and buy credits for them.
	owners = 8
)

// town is a server under siege and its customers.
type town struct {
	*business
	seed      uint64
	customers []*customer
	owners    []string // their keys

	up    sync.RWMutex // held for writing while the server is down
	kills int
	dying sync.WaitGroup

	mu     sync.Mutex
	fate   *rand.Rand // of Stripe's answers
	outage time.Time  // Stripe is down until then
	down   stripetest.Trouble
	did    map[string]int // what was done, for the log
}

func newTown(t *testing.T, b *business, seed uint64) *town {
	t.Helper()
	town := &town{business: b, seed: seed, fate: rand.New(rand.NewPCG(seed, 0)), did: map[string]int{}}
	for i := range owners {
		got := b.command(t, "keys", "create", "--plan", "standard", "--email", fmt.Sprintf("owner%d@example.com", i))
		if got.code != exitDone {
			t.Fatalf("creating a key: got exit %d, want %d: %s", got.code, exitDone, got.stderr)
		}
		town.owners = append(town.owners, strings.TrimSpace(got.stdout))
	}
	return town
}

// open lets everybody in and returns when all have gone.
func (w *town) open(t *testing.T, customers int) {
	t.Helper()
	w.stripe.Breaks(w.trouble)
	queue := make(chan *customer)
	var all sync.WaitGroup
	for range crowd {
		all.Go(func() {
			for c := range queue {
				c.live(t)
			}
		})
	}
	only := os.Getenv("SCROLLERY_TEST_CUSTOMER")
	for n := range customers {
		if only != "" && only != strconv.Itoa(n) {
			continue
		}
		c := newCustomer(w, n)
		w.customers = append(w.customers, c)
		queue <- c
		if t.Failed() {
			break
		}
	}
	close(queue)
	all.Wait()
	w.stripe.Breaks(nil)
	w.dying.Wait()
}

func (w *town) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did[what]++
}

// trouble decides how Stripe takes a request: well, mostly.
func (w *town) trouble(r stripetest.Request) (trouble stripetest.Trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.outage) {
		return w.down
	}
	what := ""
	switch dice := w.fate.IntN(1000); {
	case dice < 12:
		what, trouble.Status = "429", http.StatusTooManyRequests
	case dice < 24:
		what, trouble.Status = "500", http.StatusInternalServerError
	case dice < 34:
		what, trouble.Status, trouble.Done = "500 after it was done", http.StatusInternalServerError, true
	case dice < 44:
		what, trouble.Wait = "slow", time.Duration(w.fate.IntN(140))*time.Millisecond
	case dice < 47:
		what, trouble.Never = "silent", true
	case dice < 50:
		what, trouble.Never, trouble.Done = "silent after it was done", true, true
	case dice < 54:
		what, trouble.Never, trouble.Then = "killed before Stripe did it", true, w.crash
	case dice < 58:
		what, trouble.Never, trouble.Done, trouble.Then = "killed after Stripe did it", true, true, w.crash
	case dice < 62: // the answer is on its way
		after := time.Duration(w.fate.IntN(3000)) * time.Microsecond
		what, trouble.Then = "killed with Stripe's answer", func() { w.dying.Go(func() { w.crashAfter(after) }) }
	default:
		return trouble
	}
	w.did[what]++
	return trouble
}

// breakDown is an outage of Stripe: for a while, nothing works.
func (w *town) breakDown(trouble stripetest.Trouble, length time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did["outage"]++
	w.outage, w.down = time.Now().Add(length), trouble
}

func (w *town) crashAfter(wait time.Duration) {
	time.Sleep(wait)
	w.crash()
}

// crash kills the server and starts it again on the same data.
func (w *town) crash() {
	w.up.Lock()
	defer w.up.Unlock()
	w.kill()
	w.kills++
	if err := w.launch(); err != nil {
		panic(err) // there is no town without a server
	}
}

// errLost is a call without an answer: no one knows what came of it.
var errLost = errors.New("the connection was lost")

// call makes a call once the server is up. It may be lost.
func (w *town) call(t *testing.T, key, method, path, body string) (reply, error) {
	w.up.RLock()
	base := w.kills
	w.up.RUnlock()
	answer, err := w.ask(context.WithoutCancel(t.Context()), key, method, path, body)
	if err != nil {
		w.up.RLock()
		defer w.up.RUnlock()
		if w.kills == base {
			t.Errorf("%s %s: lost without a kill: %v, want other than %v", method, path, err, base)
		}
		return reply{}, errLost
	}
	if answer.status == http.StatusBadGateway {
		code := answer.text("error")
		if code != "temporary_service_error" && code != "upstream_error" || answer.body["retryable"] != true {
			t.Errorf("%s %s: got 502 with %v, want a retryable temporary_service_error or upstream_error", method, path, answer.body)
		}
		w.count("502")
		return reply{}, errLost
	}
	return answer, nil
}
