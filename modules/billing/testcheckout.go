package billing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	htmlpage "github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// CheckoutPath is where the app mounts the test checkout.
const CheckoutPath = "/checkout/"

// testPrefix begins the sessions of the test checkout.
const testPrefix = "test_"

// TestCheckout is a provider without money: anyone with the address of a
// checkout may call it paid. It is its own web page, plainly marked as a test.
type TestCheckout struct {
	checkouts checkouts
	cfg       Config
	log       *slog.Logger
	page      *htmlpage.Writer
	now       func() time.Time
}

// NewTestCheckout returns the test checkout. Mount it at CheckoutPath.
func NewTestCheckout(db *store.DB, cfg Config, log *slog.Logger) (*TestCheckout, error) {
	writer, err := newPageWriter(log)
	if err != nil {
		return nil, err
	}
	return &TestCheckout{checkouts: checkouts{db}, cfg: cfg, log: log, page: writer, now: time.Now}, nil
}

// Create returns an address of this server.
func (t *TestCheckout) Create(context.Context, Order) (session, url string, err error) {
	session = testPrefix + secret.New()
	return session, t.cfg.BaseURL + CheckoutPath + session, nil
}

// State returns what was chosen on the page. Of a session that another provider opened
// it knows nothing: the Stripe key may be missing on this process alone.
func (t *TestCheckout) State(ctx context.Context, session string) (Payment, error) {
	if !isTest(session) {
		return Payment{State: Unknown}, nil
	}
	found, ok, err := t.find(ctx, session)
	if err != nil {
		return Payment{}, err
	}
	if !ok {
		return Payment{State: Expired}, nil
	}
	return Payment{State: found.stateAt(t.now()), Email: found.email}, nil
}

// find returns a checkout of this provider: no one calls another's paid here.
func (t *TestCheckout) find(ctx context.Context, session string) (checkout, bool, error) {
	if !isTest(session) {
		return checkout{}, false, nil
	}
	return t.checkouts.bySession(ctx, session)
}

func isTest(session string) bool { return strings.HasPrefix(session, testPrefix) }

// ServeHTTP shows a checkout and takes its form. Posting it twice does it once.
func (t *TestCheckout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session, _ := strings.CutPrefix(r.URL.Path, CheckoutPath)
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		t.page.Write(w, r, http.StatusMethodNotAllowed, page{Title: "This page is read or posted"})
		return
	}
	found, ok, err := t.find(r.Context(), session)
	switch {
	case err != nil:
		t.fail(w, r, err)
	case !ok:
		t.page.Write(w, r, http.StatusNotFound, page{
			Title: "No such checkout", Detail: "The address may be incomplete, or the checkout was removed long after it ended.",
		})
	case r.Method == http.MethodPost:
		t.post(w, r, found)
	default:
		t.show(w, r, found, http.StatusOK, "", "")
	}
}

func (t *TestCheckout) post(w http.ResponseWriter, r *http.Request, found checkout) {
	sent, email, status, mistake := readForm(w, r)
	if status != 0 {
		t.show(w, r, found, status, email, mistake)
		return
	}
	want := Cancelled
	if sent.pay {
		want = Paid
	}
	now := t.now()
	if _, err := t.checkouts.settle(r.Context(), found.id, want, sent.email, now); err != nil {
		t.fail(w, r, err)
		return
	}
	found, ok, err := t.checkouts.bySession(r.Context(), found.session)
	if err != nil || !ok {
		t.fail(w, r, fmt.Errorf("read a checkout again (found: %v): %w", ok, err))
		return
	}
	status = http.StatusOK
	switch state := found.stateAt(now); {
	case state == Expired:
		status = http.StatusGone
	case state != want:
		status = http.StatusConflict // paid and cancelled exclude each other
	}
	t.show(w, r, found, status, "", "")
}

// show renders the checkout as it is.
func (t *TestCheckout) show(w http.ResponseWriter, r *http.Request, found checkout, status int, email, mistake string) {
	content := page{Plan: found.plan, Price: dollars(found.amountCents), Email: email, Mistake: mistake, Period: "a month"}
	if plan, ok := t.cfg.Plan(found.plan); ok {
		content.Plan = plan.Label
	}
	if found.interval == Annual {
		content.Period = "a year"
	}
	offer, next := "Subscribe to Scrollery", "the claim token now opens your API key."
	switch found.purpose {
	case purposeTopup:
		content.Plan, content.Period = fmt.Sprintf("%d credits", found.amountCents), "once"
		offer, next = "Buy credits", "confirming the session "+found.session+" shows the new balance."
	case purposeSignup:
		content.Plan, content.Period, offer = fmt.Sprintf("%d credits", found.amountCents), "once", "Sign up with credits"
	}
	switch found.stateAt(t.now()) {
	case Open:
		content.Title, content.Form = offer, true
	case Paid:
		content.Title, content.Message = "Paid", "The test payment is done."
		content.Detail = "Go back to where you started: " + next
		content.Claim = found.purpose == purposeSubscription
	case Cancelled:
		content.Title, content.Message = "Cancelled", "The checkout was cancelled; nothing was paid."
	case Expired:
		content.Title, content.Message = "Expired", "The checkout was not paid in time. Start a new one."
	}
	t.page.Write(w, r, status, content)
}

func (t *TestCheckout) fail(w http.ResponseWriter, r *http.Request, err error) {
	t.log.ErrorContext(r.Context(), "serve a test checkout", "error", err)
	t.page.Write(w, r, http.StatusInternalServerError, page{
		Title: "Something went wrong", Detail: "Nothing was changed. Try again in a moment.",
	})
}

// dollars writes whole cents as a price.
func dollars(cents int64) string {
	if cents%100 == 0 {
		return fmt.Sprintf("$%d", cents/100)
	}
	return fmt.Sprintf("$%d.%02d", cents/100, cents%100)
}
