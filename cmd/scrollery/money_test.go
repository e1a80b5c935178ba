package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/billing/stripetest"
)

// business is a server that sells through a Stripe of its own.
type business struct {
	*served
	stripe *stripetest.Double
}

// newBusiness starts the server and has its plans set up in Stripe.
func newBusiness(t *testing.T, databaseURL, config string) *business {
	t.Helper()
	b := &business{stripe: stripetest.New(t)}
	b.served = newServed(t, t.TempDir(), databaseURL, config,
		"SCROLLERY_STRIPE_SECRET_KEY="+stripetest.SecretKey,
		"SCROLLERY_STRIPE_WEBHOOK_SECRET="+stripetest.WebhookSecret,
		"SCROLLERY_STRIPE_API_URL="+b.stripe.URL)
	b.start(t)
	// A configuration may give Stripe less time than this machine always needs.
	plain := filepath.Join(b.dir, "plain.yaml")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	patient := *b.served
	patient.env = append(slices.Clone(b.env), "SCROLLERY_CONFIG="+plain)
	for _, word := range []string{"made", "unchanged"} {
		got := patient.command(t, "billing", "setup")
		if lines := strings.Split(strings.TrimSpace(got.stdout), "\n"); got.code != exitDone || len(lines) != 6 ||
			slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, word) }) {
			t.Fatalf("billing setup: exit %d, want 6 lines with %q: %s%s", got.code, word, got.stdout, got.stderr)
		}
	}
	return b
}

// eachBusiness runs a test on both databases.
func eachBusiness(t *testing.T, config string, test func(t *testing.T, b *business)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newBusiness(t, "", config))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newBusiness(t, apptest.ScratchPostgres(t), config))
	})
}

// reply is what a call was answered.
type reply struct {
	status int
	body   map[string]any
}

func (r reply) text(field string) string {
	text, _ := r.body[field].(string)
	return text
}

// ask makes a call as the holder of a key, or as no one.
func (b *business) ask(ctx context.Context, key, method, path, body string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := b.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	answer := reply{status: response.StatusCode}
	if err := json.Unmarshal(text, &answer.body); err != nil {
		return reply{}, fmt.Errorf("%s %s: %s: %w", method, path, text, err)
	}
	return answer, nil
}

// must makes a call that is answered with a status.
func (b *business) must(t *testing.T, status int, key, method, path, body string) reply {
	t.Helper()
	answer, err := b.ask(t.Context(), key, method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.status != status {
		t.Fatalf("%s %s: %d %v, want %d\n%s", method, path, answer.status, answer.body, status, b.stderr)
	}
	return answer
}

// post delivers a notice and returns how it was taken.
func (b *business) post(request *http.Request) (status int, err error) {
	response, err := b.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func (b *business) wantPost(t *testing.T, want int, request *http.Request) {
	t.Helper()
	if got, err := b.post(request); err != nil || got != want {
		t.Fatalf("webhook: %d, %v; want %d\n%s", got, err, want, b.stderr)
	}
}

// sign is a notice as Stripe sends it.
func (b *business) sign(event stripetest.Event) *http.Request {
	return stripetest.Sign(b.base+"/webhooks/stripe", event, stripetest.WebhookSecret, time.Now())
}

// deliver posts every event that Stripe has not sent yet.
func (b *business) deliver(t *testing.T) (sent []stripetest.Event) {
	t.Helper()
	sent = b.stripe.Take("")
	for _, event := range sent {
		b.wantPost(t, http.StatusOK, b.sign(event))
	}
	return sent
}

// wantDeaf posts notices that must change nothing, and may not even reach Stripe.
func (b *business) wantDeaf(t *testing.T, event stripetest.Event) {
	t.Helper()
	calls, hook := b.stripe.Named(), b.base+"/webhooks/stripe"
	unsigned := b.sign(event)
	unsigned.Header.Del("Stripe-Signature")
	changed := b.sign(event)
	changed.Body = io.NopCloser(strings.NewReader(strings.Replace(string(event.Body), event.ID, "evt_other", 1)))
	changed.ContentLength = -1
	for _, forged := range []*http.Request{
		unsigned, changed,
		stripetest.Sign(hook, event, "whsec_of_somebody", time.Now()),
		stripetest.Sign(hook, event, stripetest.WebhookSecret, time.Now().Add(-6*time.Minute)),
	} {
		b.wantPost(t, http.StatusBadRequest, forged)
	}
	if b.stripe.Named() != calls {
		t.Errorf("got %d calls of Stripe for one object after forged notices, want %d as before", b.stripe.Named(), calls)
	}
}

// wantReplayed posts notices again, which changes nothing and asks nothing.
func (b *business) wantReplayed(t *testing.T, events []stripetest.Event) {
	t.Helper()
	calls := b.stripe.Named()
	for _, event := range events {
		b.wantPost(t, http.StatusOK, b.sign(event))
	}
	if b.stripe.Named() != calls {
		t.Errorf("got %d calls of Stripe for one object after replayed notices, want %d as before", b.stripe.Named(), calls)
	}
}

var codeInMail = regexp.MustCompile(`code is (\d{6})`)

// mailed returns the newest code that was mailed to an address, empty for none.
func (b *business) mailed(address string) (code string) {
	files, _ := filepath.Glob(filepath.Join(b.dir, "outbox", "*.eml"))
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(strings.ToLower(string(text)), "<"+address+">") {
			continue
		}
		if match := codeInMail.FindSubmatch(text); match != nil {
			code = string(match[1])
		}
	}
	return code
}

// reissue recovers a key by mail.
func (b *business) reissue(t *testing.T, address string) (key string) {
	t.Helper()
	b.must(t, http.StatusOK, "", "POST", "/v1/api_keys/recover", `{"email":"`+address+`"}`)
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		if code := b.mailed(strings.ToLower(address)); code != "" {
			got := b.must(t, http.StatusOK, "", "POST", "/v1/api_keys/reissue", `{"email":"`+address+`","code":"`+code+`"}`)
			return got.text("apiKey")
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("got no code in the mail to %s within 2 min, want one\n%s", address, b.stderr)
	return ""
}

// TestSubscriptionThroughStripe is the whole life of a subscriber, from the
// checkout at Stripe to the end of the subscription.
func TestSubscriptionThroughStripe(t *testing.T) {
	t.Parallel()
	eachBusiness(t, "", func(t *testing.T, b *business) {
		start := b.must(t, 200, "", "POST", "/v1/subscribe", `{"billingInterval":"annual","plan":"pro"}`)
		session, claim := stripetest.SessionOf(start.text("url")), `{"claimToken":"`+start.text("claimToken")+`"}`
		wantStatus := func(want, path, body, key string) reply {
			t.Helper()
			got := b.must(t, 200, key, "POST", path, body)
			if got.text("status") != want {
				t.Fatalf("%s: %v, want %s", path, got.body, want)
			}
			return got
		}
		wantStatus("pending", "/v1/subscribe/claim", claim, "")
		b.stripe.Pay(session, "Ada@Example.com")
		b.wantDeaf(t, b.stripe.Take("")[0])
		got := wantStatus("completed", "/v1/subscribe/claim", claim, "") // without any notice
		key := got.text("apiKey")
		if got.text("billingInterval") != "annual" || got.text("plan") != "research_library" {
			t.Errorf(`claim: %v, want text "annual" and text "research_library"`, got.body)
		}
		if again := wantStatus("already_claimed", "/v1/subscribe/claim", claim, ""); again.text("apiKey") != "" || again.text("accountId") != got.text("accountId") {
			t.Errorf("claimed again: got %v, want account %s and no key", again.body, got.text("accountId"))
		}
		wantUsage := func(want string, status int) {
			t.Helper()
			if usage := b.must(t, 200, key, "GET", "/v1/usage", ""); usage.text("status") != want || usage.text("billingInterval") != "annual" {
				t.Errorf("usage: %v, want %s", usage.body, want)
			}
			b.must(t, status, key, "GET", "/v1/hooks", "")
		}
		wantUsage("active", 200)

		sub := b.stripe.Text(session, "subscription")
		b.stripe.Set(sub, "past_due")
		late := b.stripe.Take("")
		b.wantDeaf(t, late[0])
		wantUsage("active", 200)
		b.wantPost(t, 200, b.sign(late[0]))
		wantUsage("past_due", 402)
		b.stripe.Set(sub, "active")
		back := b.deliver(t)
		b.wantPost(t, 200, b.sign(late[1])) // it comes last and tells of what was before
		wantUsage("active", 200)
		b.wantReplayed(t, append(back, late...))

		b.stripe.Set(sub, "canceled")
		b.stripe.Take("") // lost
		if got := b.command(t, "subscriptions", "sync"); got.code != exitDone || got.stdout != "1 checked, 1 changed\n" {
			t.Errorf("subscriptions sync: %d %s%s, want code %v and stdout %q", got.code, got.stdout, got.stderr, exitDone, "1 checked, 1 changed\n")
		}
		soon(t, "cancelled by a command", func() bool {
			return b.must(t, 200, key, "GET", "/v1/usage", "").text("status") == "cancelled"
		})
		wantUsage("cancelled", 402)

		old := key
		if key = b.reissue(t, "ada@example.com"); key == "" { // the address of the checkout
			t.Fatalf("no key was reissued: got %q, want key not empty", key)
		}
		wantUsage("cancelled", 402)
		b.must(t, 401, old, "GET", "/v1/usage", "")
		shown := b.command(t, "accounts", "show", "ada@example.com").stdout
		for _, want := range []string{"subscription.active", "subscription.past_due", "subscription.cancelled", "key.mint", "payment", "customer"} {
			if !strings.Contains(shown, want) {
				t.Errorf("no %s in\n%s", want, shown)
			}
		}
	})
}

// TestSubscribingAgain subscribes with the key of an account: it keeps its data, and
// the older subscription ends in Stripe, however often that is tried.
func TestSubscribingAgain(t *testing.T) {
	t.Parallel()
	eachBusiness(t, "", func(t *testing.T, b *business) {
		buy := func(key, plan string) (claim reply, sub string) {
			t.Helper()
			start := b.must(t, 200, key, "POST", "/v1/subscribe", `{"billingInterval":"monthly","plan":"`+plan+`"}`)
			session := stripetest.SessionOf(start.text("url"))
			b.stripe.Pay(session, "eve@example.com")
			claim = b.must(t, 200, "", "POST", "/v1/subscribe/claim", `{"claimToken":"`+start.text("claimToken")+`"}`)
			if claim.text("status") != "completed" {
				t.Fatalf("got the claim %v, want it completed", claim.body)
			}
			return claim, b.stripe.Text(session, "subscription")
		}
		first, old := buy("", "standard")
		key := first.text("apiKey")
		var removals atomic.Int32
		b.stripe.Breaks(func(r stripetest.Request) (trouble stripetest.Trouble) {
			if r.Method == http.MethodDelete && removals.Add(1) <= 4 { // more than one run of the job tries
				trouble.Status = http.StatusInternalServerError
			}
			return trouble
		})
		second, current := buy(key, "pro")
		if second.text("accountId") != first.text("accountId") {
			t.Fatalf("subscribed again: got account %s, want %s", second.text("accountId"), first.text("accountId"))
		}
		b.must(t, 200, key, "GET", "/v1/hooks", "")
		deadline := time.Now().Add(2 * time.Minute)
		for b.stripe.Text(old, "status") != "canceled" && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if got := b.stripe.Text(old, "status") + " " + b.stripe.Text(current, "status"); got != "canceled active" || removals.Load() < 5 {
			t.Errorf("got the old and the new subscription %q after %d removals, want \"canceled active\" after at least 5\n%s", got, removals.Load(), b.stderr)
		}
		b.deliver(t) // that the old one ended does not end the new one
		b.must(t, 200, key, "GET", "/v1/hooks", "")

		b.stripe.Set(current, "canceled")
		b.deliver(t)
		b.must(t, 402, key, "GET", "/v1/hooks", "")
		third, _ := buy(key, "pro") // one that has ended comes back the same way
		if third.text("accountId") != first.text("accountId") {
			t.Fatalf("subscribed after the end: got account %s, want %s", third.text("accountId"), first.text("accountId"))
		}
		b.must(t, 200, key, "GET", "/v1/hooks", "")

		stranger, _ := buy("scr_live_unknown", "pro")
		if stranger.text("accountId") == first.text("accountId") {
			t.Errorf("a stranger: got account %s, want another one than %s", stranger.text("accountId"), first.text("accountId"))
		}
	})
}

// TestCreditsThroughStripe buys credits with and without an account, and has the
// payments undone.
func TestCreditsThroughStripe(t *testing.T) {
	t.Parallel()
	eachBusiness(t, "", func(t *testing.T, b *business) {
		start := b.must(t, 200, "", "POST", "/v1/signup", `{"amountCents":700}`)
		claim := `{"claimToken":"` + start.text("claimToken") + `"}`
		if got := b.must(t, 200, "", "POST", "/v1/signup/claim", claim); got.text("status") != "pending" {
			t.Errorf(`unpaid: %v, want "pending"`, got.body)
		}
		first := stripetest.SessionOf(start.text("url"))
		b.stripe.Pay(first, "bob@example.com")
		b.deliver(t)
		if got := b.must(t, 200, "", "POST", "/v1/subscribe/claim", claim); got.text("status") != "invalid_token" {
			t.Errorf(`the other kind of claim: %v, want "invalid_token"`, got.body)
		}
		got := b.must(t, 200, "", "POST", "/v1/signup/claim", claim)
		key := got.text("apiKey")
		if got.text("status") != "completed" || got.body["creditsCents"] != 700.0 || key == "" {
			t.Fatalf(`claim: %v, want text "completed", creditsCents 700.0 and key not empty`, got.body)
		}
		topup := func(cents int) (session, confirm string) {
			got := b.must(t, 200, key, "POST", "/v1/topup", fmt.Sprintf(`{"amountCents":%d}`, cents))
			session = stripetest.SessionOf(got.text("url"))
			return session, `{"sessionId":"` + session + `"}`
		}
		wantConfirm := func(confirm, status string, balance float64) {
			t.Helper()
			if got := b.must(t, 200, key, "POST", "/v1/topup/confirm", confirm); got.text("status") != status || got.body["creditsCents"] != balance {
				t.Fatalf("confirm: %v, want %s and %v", got.body, status, balance)
			}
		}
		second, confirm := topup(300)
		wantConfirm(confirm, "pending", 700)
		b.stripe.Pay(second, "bob@example.com")
		paid := b.stripe.Take("")
		b.wantDeaf(t, paid[0])
		for range 2 {
			wantConfirm(confirm, "completed", 1000)
		}
		for _, event := range paid { // late
			b.wantPost(t, 200, b.sign(event))
		}
		b.wantReplayed(t, paid)
		wantConfirm(confirm, "completed", 1000)

		third, unconfirmed := topup(500)
		b.stripe.Pay(third, "bob@example.com")
		b.deliver(t) // no one confirms it
		wantConfirm(confirm, "completed", 1500)
		left, unpaid := topup(100)
		b.stripe.Expire(left)
		b.deliver(t)
		wantConfirm(unpaid, "invalid_session", 1500)

		b.stripe.Refund(second, 100)
		b.deliver(t)
		wantConfirm(unconfirmed, "completed", 1400)
		b.must(t, 200, key, "POST", "/v1/agent", `{"goal":"summarise my hooks"}`) // the fee is 50
		for _, session := range []string{first, second, third} {
			b.stripe.Dispute(session, 900) // of 700, 200 and 500 that are left
		}
		undone := b.deliver(t)
		wantConfirm(confirm, "completed", 0)
		b.wantReplayed(t, undone)
		shown := b.command(t, "accounts", "show", "bob@example.com").stdout
		if !regexp.MustCompile(`(?m)^credits +0\nowed +50$`).MatchString(shown) {
			t.Errorf("got %s, want 0 credits and 50 owed", shown)
		}
		fourth, confirm := topup(200)
		b.stripe.Pay(fourth, "bob@example.com")
		wantConfirm(confirm, "completed", 150)
	})
}
