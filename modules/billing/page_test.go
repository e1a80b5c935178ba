package billing

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// desk is a service whose provider is the test checkout, and its page.
type desk struct {
	*bundle
	checkout *TestCheckout
	mu       sync.Mutex
}

func newDesk(t *testing.T, db *store.DB) *desk {
	t.Helper()
	checkout, err := NewTestCheckout(db, Defaults(), storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{bundle: setup(t, db), checkout: checkout}
	d.provider = checkout
	checkout.now = func() time.Time { return d.clock }
	return d
}

func (d *desk) call(method, address, contentType, body string) (*http.Response, string) {
	parsed, _ := url.Parse(address)
	r := httptest.NewRequest(method, parsed.Path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	d.checkout.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	return w.Result(), string(text)
}

const formType = "application/x-www-form-urlencoded"

func (d *desk) post(address string, fields ...string) (int, string) {
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Add(fields[i], fields[i+1])
	}
	resp, text := d.call(http.MethodPost, address, formType, values.Encode())
	return resp.StatusCode, text
}

func TestTestCheckoutJourney(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		address, token := d.begin(t, context.Background())
		if !strings.HasPrefix(address, Defaults().BaseURL+"/checkout/test_") {
			t.Fatalf("got the address %s, want one that begins with %s", address, Defaults().BaseURL+"/checkout/test_")
		}
		resp, text := d.call(http.MethodGet, address, "", "")
		for _, want := range []string{"Test checkout", "$990", "a year", `name="email"`, `value="pay"`, `value="cancel"`, `<html lang="en">`, `<label for="email">`} {
			if !strings.Contains(text, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		if status := d.claim(t, token).Status; resp.StatusCode != 200 || status != ClaimPending {
			t.Errorf("looking at the page: got %d and the claim %s, want 200 and %s", resp.StatusCode, status, ClaimPending)
		}
		for range 2 { // a double click
			if status, text := d.post(address, "email", " Bo@Example.com ", "action", "pay"); status != 200 || !strings.Contains(text, "Paid") {
				t.Fatalf("paying: got %d, want 200 and Paid: %s", status, text)
			}
		}
		if status, _ := d.post(address, "email", "", "action", "cancel"); status != http.StatusConflict {
			t.Errorf("cancelled after payment: %d, want %v", status, http.StatusConflict)
		}
		if got := d.claim(t, token); got.Status != ClaimCompleted {
			t.Errorf("claim %+v, want %v", got, ClaimCompleted)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM accounts WHERE email = 'bo@example.com'"); got != 1 {
			t.Errorf("%d accounts with the address, want 1", got)
		}
		if status, text := d.post(address, "email", "eve@example.com", "action", "pay"); status != 200 || !strings.Contains(text, "Paid") {
			t.Errorf(`paid again after the claim: %d, want status 200 and text with "Paid"`, status)
		}
		if got := d.claim(t, token); got.Status != ClaimAlreadyClaimed {
			t.Errorf("claim %+v, want %v", got, ClaimAlreadyClaimed)
		}
	})
}

func TestTestCheckoutCancelledAndExpired(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storetest.SQLite(t))
	address, token := d.begin(t, context.Background())
	for range 2 {
		if status, text := d.post(address, "action", "cancel"); status != 200 || !strings.Contains(text, "Cancelled") {
			t.Fatalf("cancelling: got %d, want 200 and Cancelled: %s", status, text)
		}
	}
	if status, _ := d.post(address, "email", "a@b.c", "action", "pay"); status != http.StatusConflict {
		t.Errorf("paid after cancelling: %d, want %v", status, http.StatusConflict)
	}
	if got := d.claim(t, token); got.Status != ClaimInvalidSession {
		t.Errorf("claim %+v, want %v", got, ClaimInvalidSession)
	}

	address, token = d.begin(t, context.Background())
	d.clock = d.clock.Add(24 * time.Hour)
	if status, text := d.post(address, "email", "a@b.c", "action", "pay"); status != http.StatusGone || strings.Contains(text, "<form") {
		t.Errorf(`paid after a day: %d, want status %v and text without "<form"`, status, http.StatusGone)
	}
	if resp, text := d.call(http.MethodGet, address, "", ""); resp.StatusCode != 200 || !strings.Contains(text, "Expired") {
		t.Errorf(`seen after a day: %d, want StatusCode 200 and text with "Expired"`, resp.StatusCode)
	}
	if got := d.claim(t, token); got.Status != ClaimInvalidSession {
		t.Errorf("claim %+v, want %v", got, ClaimInvalidSession)
	}
}

func TestTestCheckoutRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storetest.SQLite(t))
	address, token := d.begin(t, context.Background())
	for name, c := range map[string]struct {
		method, address, contentType, body string
		want                               int
	}{
		"unknown session":  {"GET", "/checkout/test_x", "", "", 404},
		"no session":       {"GET", "/checkout/", "", "", 404},
		"deeper path":      {"GET", address + "/x", "", "", 404},
		"post to unknown":  {"POST", "/checkout/test_x", formType, "email=a@b.c&action=pay", 404},
		"another method":   {"PUT", address, formType, "", 405},
		"json":             {"POST", address, "application/json", `{"email":"a@b.c","action":"pay"}`, 415},
		"no type":          {"POST", address, "", "email=a@b.c&action=pay", 415},
		"no address":       {"POST", address, formType, "action=pay", 400},
		"a broken address": {"POST", address, formType, "email=ana&action=pay", 400},
		"two addresses":    {"POST", address, formType, "email=a@b.c&email=d@e.f&action=pay", 400},
		"a header":         {"POST", address, formType, "email=a@b.c%0d%0aBcc:d@e.f&action=pay", 400},
		"too long":         {"POST", address, formType, "action=pay&email=a@b.c" + strings.Repeat("c", 254), 400},
		"no action":        {"POST", address, formType, "email=a@b.c", 400},
		"another action":   {"POST", address, formType, "email=a@b.c&action=refund", 400},
		"two actions":      {"POST", address, formType, "email=a@b.c&action=pay&action=cancel", 400},
		"unknown field":    {"POST", address, formType, "email=a@b.c&action=pay&amount=0", 400},
		"broken escape":    {"POST", address, formType, "email=%zz&action=pay", 400},
		"too large":        {"POST", address, formType, "email=a@b.c&action=pay&x=" + strings.Repeat("x", 16<<10), 413},
		"query is no form": {"POST", address + "?email=a@b.c&action=pay", formType, "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			resp, text := d.call(c.method, c.address, c.contentType, c.body)
			if resp.StatusCode != c.want {
				t.Errorf("got status %d, want %d", resp.StatusCode, c.want)
			}
			if !strings.Contains(text, "Test checkout") {
				t.Errorf(`got a page that is not marked as a test: %s, want with "Test checkout"`, text)
			}
		})
	}
	if got := d.claim(t, token); got.Status != ClaimPending {
		t.Errorf("something was done: %+v, want %v", got, ClaimPending)
	}
}

func TestTestCheckoutPageIsClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storetest.SQLite(t))
	address, _ := d.begin(t, context.Background())
	evil := `"><script>alert(1)</script>`
	_, text := d.call(http.MethodPost, address, formType, url.Values{"email": {evil}, "action": {"pay"}}.Encode())
	if strings.Contains(text, "<script") || !strings.Contains(text, "alert(1)") {
		t.Errorf(`the typed address is not shown as text: %s, want text without "<script" and text with "alert(1)"`, text)
	}
	resp, text := d.call(http.MethodGet, address, "", "")
	_, style, _ := strings.Cut(text, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := resp.Header.Get("Content-Security-Policy")
	if len(style) < 100 || !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
		t.Errorf("got the policy %q and a style of %d bytes, want the sum of the page's own style in it", policy, len(style))
	}
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
		t.Run(name, func(t *testing.T) {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(text, outside) {
			t.Errorf("got %q in the page, want nothing from outside: %s", outside, text)
		}
	}
	if resp, text := d.call(http.MethodHead, address, "", ""); resp.StatusCode != 200 || text != "" {
		t.Errorf("HEAD: %d, %q, want StatusCode 200 and text empty", resp.StatusCode, text)
	}
}

func TestRacingPaymentAndCancellation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		address, token := d.begin(t, context.Background())
		var group sync.WaitGroup
		wins := map[bool]int{}
		for i := range 16 {
			group.Go(func() {
				action := []string{"pay", "cancel"}[i%2]
				status, _ := d.post(address, "email", "a@b.c", "action", action)
				d.mu.Lock()
				defer d.mu.Unlock()
				if status == 200 {
					wins[action == "pay"]++
				}
			})
		}
		group.Wait()
		if len(wins) != 1 {
			t.Errorf("paid and cancelled: %v, want 1", wins)
		}
		want := ClaimInvalidSession
		if wins[true] > 0 {
			want = ClaimCompleted
		}
		if got := d.claim(t, token); got.Status != want {
			t.Errorf("claim %+v, want %s", got, want)
		}
	})
}

// A process that lost its Stripe key sells in test checkout. It ends nothing that
// Stripe has opened: the payer may be on Stripe's page.
func TestTheTestCheckoutEndsNoOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, d := openShop(t, db), newDesk(t, db)
		url, token, err := s.Subscribe(context.Background(), "pro", Monthly)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.claim(t, token); got.Status != ClaimInvalidSession || got.APIKey != "" {
			t.Errorf("without the key: got %+v, want it %s without a key", got, ClaimInvalidSession)
		}
		s.Pay(stripetest.SessionOf(url), payer)
		if got, err := s.ClaimSubscription(context.Background(), token); err != nil || got.Status != ClaimCompleted {
			t.Errorf("with the key: got %+v, error %v; want it %s", got, err, ClaimCompleted)
		}
	})
}
