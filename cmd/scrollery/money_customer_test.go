package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
)

// customer is one person with his client, and what is known on his side.
type customer struct {
	*town
	n      int
	random *rand.Rand
	email  string
	// key that works, as far as he knows; an owner's from the start.
	key    string
	bought []*purchase
}

// purchase is one checkout and all that became of it.
type purchase struct {
	kind    string // subscribe, signup, topup
	cents   int
	body    string // of the order
	session string // empty until the order was answered
	token   string
	// mail are notices that Stripe has yet to send; sent may be sent again.
	mail, sent []stripetest.Event
	late       bool // a payment under way
	paid       bool
	undone     int // cents that were given back
	keys       int // that claims have shown
	opensNew   bool
}

func newCustomer(w *town, n int) *customer {
	c := &customer{town: w, n: n, random: rand.New(rand.NewPCG(w.seed, uint64(n)+1)), email: fmt.Sprintf("c%d@example.com", n)}
	return c
}

func (c *customer) chance(percent int) bool { return c.random.IntN(100) < percent }

// live is the whole of it: a purchase or two, in a random order of steps.
func (c *customer) live(t *testing.T) {
	switch dice := c.random.IntN(100); {
	case dice < 30:
		c.key = c.owners[c.n%owners]
		c.buy(t, c.credits("topup"))
	case dice < 55:
		c.buy(t, c.credits("signup"))
	default:
		c.buy(t, c.plan())
		if c.key != "" && c.chance(40) {
			c.buy(t, c.plan()) // for the same account: the older one has to end
		}
	}
	if t.Failed() {
		t.Logf("customer %d", c.n)
	}
}

func (c *customer) credits(kind string) *purchase {
	cents := 100 + c.random.IntN(900)
	return &purchase{kind: kind, cents: cents, body: fmt.Sprintf(`{"amountCents":%d}`, cents), opensNew: kind == "signup"}
}

func (c *customer) plan() *purchase {
	plan, interval := "standard", "monthly"
	if c.chance(50) {
		plan = "pro"
	}
	if c.chance(50) {
		interval = "annual"
	}
	return &purchase{kind: "subscribe", body: fmt.Sprintf(`{"plan":%q,"billingInterval":%q}`, plan, interval), opensNew: c.key == ""}
}

// buy goes through a purchase in random steps, and sees it through.
func (c *customer) buy(t *testing.T, p *purchase) {
	c.bought = append(c.bought, p)
	for range 4 + c.random.IntN(9) {
		c.step(t, p)
		if t.Failed() {
			return
		}
	}
	for p.session == "" && !t.Failed() {
		c.order(t, p)
	}
	if p.late {
		c.arrive(p)
	}
	for len(p.mail) > 0 && c.chance(60) { // what is left then is lost
		c.notice(t, p)
	}
	for !t.Failed() && !c.ask(t, p, 1) {
		continue
	}
	c.check(t, p)
}

func (c *customer) step(t *testing.T, p *purchase) {
	if p.session == "" {
		c.order(t, p)
		return
	}
	switch dice := c.random.IntN(100); {
	case dice < 22:
		c.pay(p)
	case dice < 42:
		c.ask(t, p, 1)
	case dice < 50:
		c.ask(t, p, 2+c.random.IntN(3))
	case dice < 68:
		c.notice(t, p)
	case dice < 72 && len(p.mail) > 0:
		p.mail = slices.Delete(p.mail, 0, 1)
		c.count("notice lost")
	case dice < 79:
		c.forge(t, p)
	case dice < 90:
		c.undo(p)
	case dice < 96:
		c.spend(t)
	case dice < 98:
		down := []stripetest.Trouble{{Status: http.StatusTooManyRequests}, {Status: http.StatusServiceUnavailable}, {Never: true}}
		c.breakDown(down[c.random.IntN(3)], time.Duration(100+c.random.IntN(300))*time.Millisecond)
	default:
		c.killed(t, p)
	}
}

// killed has the server die within the milliseconds of a call.
func (c *customer) killed(t *testing.T, p *purchase) {
	wait := time.Duration(c.random.IntN(8000)) * time.Microsecond
	var dying sync.WaitGroup
	dying.Go(func() { c.crashAfter(wait) })
	if c.chance(50) || len(p.mail) == 0 {
		c.ask(t, p, 1)
	} else {
		c.notice(t, p)
	}
	dying.Wait()
	c.count("killed in a call")
}

func (c *customer) order(t *testing.T, p *purchase) {
	got, err := c.call(t, c.key, "POST", "/v1/"+p.kind, p.body)
	if err != nil {
		return // one that no one knows of may stay open in Stripe
	}
	if got.status != http.StatusOK || got.text("url") == "" || (p.kind != "topup") != (got.text("claimToken") != "") {
		t.Errorf("%s: got %d %v, want 200 with an address, and a claim token unless it is a top-up", p.kind, got.status, got.body)
		return
	}
	p.session, p.token = stripetest.SessionOf(got.text("url")), got.text("claimToken")
}

// pay takes a payment one step on, or ends the checkout.
func (c *customer) pay(p *purchase) {
	switch dice := c.random.IntN(100); {
	case p.late:
		c.arrive(p)
	case dice < 70:
		p.paid = c.stripe.Pay(p.session, c.email) || p.paid
	case dice < 88:
		p.late = c.stripe.PayLater(p.session, c.email)
	default:
		c.stripe.Expire(p.session)
	}
	p.mail = append(p.mail, c.stripe.Take(p.session)...)
}

// arrive ends a payment that takes days.
func (c *customer) arrive(p *purchase) {
	if p.paid = c.chance(60); p.paid {
		c.stripe.Succeed(p.session)
	} else {
		c.stripe.Fail(p.session)
	}
	p.late = false
	p.mail = append(p.mail, c.stripe.Take(p.session)...)
	c.count("payment that took days")
}

// undo takes money back, or changes a subscription, in Stripe.
func (c *customer) undo(p *purchase) {
	left := p.cents - p.undone
	switch {
	case !p.paid:
		return
	case p.kind == "subscribe":
		status := []string{"past_due", "active", "unpaid", "canceled"}[c.random.IntN(4)]
		if sub := c.stripe.Text(p.session, "subscription"); c.stripe.Text(sub, "status") != "canceled" {
			c.stripe.Set(sub, status)
		}
	case left == 0:
		return
	case c.chance(70):
		cents := 1 + c.random.IntN(left)
		if c.chance(30) {
			cents = left
		}
		c.stripe.Refund(p.session, cents)
		p.undone += cents
	default:
		c.stripe.Dispute(p.session, left)
		p.undone = p.cents
	}
	p.mail = append(p.mail, c.stripe.Take(p.session)...)
	c.count("undone")
}

// notice delivers one notice, any of them, and perhaps again.
func (c *customer) notice(t *testing.T, p *purchase) {
	from := &p.mail
	if len(p.mail) == 0 || len(p.sent) > 0 && c.chance(25) {
		from = &p.sent
	}
	if len(*from) == 0 {
		return
	}
	i := c.random.IntN(len(*from))
	event := (*from)[i]
	times := 1
	if c.chance(20) {
		times = 2 // at once
	}
	var all sync.WaitGroup
	for range times {
		all.Go(func() { c.send(t, c.sign(event), http.StatusOK, http.StatusServiceUnavailable) })
	}
	all.Wait()
	if from == &p.mail && c.chance(80) {
		p.mail = slices.Delete(p.mail, i, i+1)
		p.sent = append(p.sent, event)
	}
}

// forge sends what Stripe did not: signed by somebody, too old, not at all, or
// changed on its way.
func (c *customer) forge(t *testing.T, p *purchase) {
	event := stripetest.Event{
		ID: fmt.Sprintf("evt_forged_%d_%d", c.n, c.random.IntN(1000)), Session: p.session,
		Body: []byte(`{"id":"evt_forged","object":"event","type":"checkout.session.completed","data":{"object":{"id":"` + p.session + `","status":"complete","payment_status":"paid"}}}`),
	}
	if len(p.mail) > 0 {
		event = p.mail[0] // its real id, so that the real one might be taken for known
	}
	secret, at := "whsec_of_somebody", time.Now()
	if c.chance(30) {
		secret, at = stripetest.WebhookSecret, time.Now().Add(-6*time.Minute)
	}
	request := stripetest.Sign(c.base+"/webhooks/stripe", event, secret, at)
	if c.chance(20) {
		request.Header.Del("Stripe-Signature")
	}
	c.send(t, request, http.StatusBadRequest)
	c.count("notice forged")
}

// send posts a notice. It may be lost.
func (c *customer) send(t *testing.T, request *http.Request, want ...int) {
	c.up.RLock()
	base := c.kills
	c.up.RUnlock()
	got, err := c.post(request)
	c.up.RLock()
	defer c.up.RUnlock()
	switch {
	case err != nil && c.kills == base:
		t.Errorf("webhook: got %v without a kill, want an answer", err)
	case err == nil && !slices.Contains(want, got):
		t.Errorf("webhook: %d, want %v", got, want)
	}
}

// ask claims or confirms, so many times at once. It tells whether an answer came.
func (c *customer) ask(t *testing.T, p *purchase, times int) (answered bool) {
	path, body := "/v1/subscribe/claim", `{"claimToken":"`+p.token+`"}`
	switch p.kind {
	case "signup":
		path = "/v1/signup/claim"
	case "topup":
		path, body = "/v1/topup/confirm", `{"sessionId":"`+p.session+`"}`
	}
	answers := make([]reply, times)
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			if got, err := c.call(t, c.key, "POST", path, body); err == nil {
				answers[i] = got
			}
		})
	}
	all.Wait()
	for _, got := range answers {
		if got.status == 0 {
			continue
		}
		answered = true
		c.hear(t, p, got)
	}
	return answered
}

// hear judges an answer to a claim or a confirmation.
func (c *customer) hear(t *testing.T, p *purchase, got reply) {
	status, key := got.text("status"), got.text("apiKey")
	if key != "" {
		p.keys++
		c.key = key
	}
	allowed := []string{"pending", "invalid_session"}
	switch {
	case p.paid && p.kind == "topup":
		allowed = []string{"completed"}
	case p.paid:
		allowed = []string{"completed", "already_claimed"}
	}
	if p.paid && p.undone == p.cents && p.kind != "subscribe" { // given back, perhaps before it was claimed
		allowed = append(allowed, "invalid_session")
	}
	if got.status != http.StatusOK || !slices.Contains(allowed, status) {
		t.Errorf("%s, paid %v, %d of %d undone: %d %v, want %v", p.kind, p.paid, p.undone, p.cents, got.status, got.body, allowed)
	}
	if (key != "") != (status == "completed" && p.kind != "topup") || p.keys > 1 {
		t.Errorf("%s: got %d keys, now with %v; want at most one, with the completed claim", p.kind, p.keys, got.body)
	}
}

// spend lets an owner pay the agent.
func (c *customer) spend(t *testing.T) {
	if c.key == "" {
		return
	}
	got, err := c.call(t, c.key, "POST", "/v1/agent", `{"goal":"summarise my hooks"}`)
	switch {
	case err != nil:
		c.count("fee lost")
	case got.status == http.StatusOK:
		c.count("fee")
	case got.status != http.StatusPaymentRequired:
		t.Errorf("agent: %d %v, want %v", got.status, got.body, http.StatusPaymentRequired)
	}
}

// check ends a purchase: who paid has a key that works. Where the answer with the
// key was lost, the mail gets him another one.
func (c *customer) check(t *testing.T, p *purchase) {
	givenBack := p.kind != "subscribe" && p.undone == p.cents
	switch {
	case p.kind == "topup" || !p.paid || givenBack && c.key == "":
		return
	case p.keys == 0 && p.opensNew:
		c.recover(t)
	}
	for !t.Failed() {
		got, err := c.call(t, c.key, "GET", "/v1/usage", "")
		if err != nil {
			continue
		}
		if got.status != http.StatusOK {
			t.Errorf("customer %d paid, and his key answers %d %v, want %v", c.n, got.status, got.body, http.StatusOK)
		}
		return
	}
}

// recover gets a new key by mail, as often as it takes.
func (c *customer) recover(t *testing.T) {
	c.count("key recovered")
	tried := map[string]bool{}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) && !t.Failed() {
		_, err := c.call(t, "", "POST", "/v1/api_keys/recover", `{"email":"`+c.email+`"}`)
		if err != nil {
			continue
		}
		for range 300 {
			if code := c.mailed(c.email); code != "" && !tried[code] {
				tried[code] = true
				got, err := c.call(t, "", "POST", "/v1/api_keys/reissue", `{"email":"`+c.email+`","code":"`+code+`"}`)
				if err == nil && got.text("status") == "completed" && strings.HasPrefix(got.text("apiKey"), "scr_live_") {
					c.key = got.text("apiKey")
					return
				}
				break // perhaps its answer was lost too
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	t.Errorf("customer %d paid: got no key by recovery, want one", c.n)
}
