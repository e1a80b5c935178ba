package billing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76/webhook"
)

const doubleSecret = "whsec_of_the_double"

type object = map[string]any

// double is a Stripe that keeps what it is told, over HTTP. Payers act through
// its methods; trouble answers in its place.
type double struct {
	*httptest.Server
	mu       sync.Mutex
	serial   int
	objects  map[string]object // by id
	replies  map[string][]byte // by idempotency key
	asked    map[string]string // by idempotency key: the body
	outbox   []object          // events that nobody has delivered
	calls    int
	trouble  func(call int, r *http.Request) int // a status, 0 for none, -1 for never
	mistakes []string
}

func newDouble(t testing.TB) *double {
	d := &double{objects: map[string]object{}, replies: map[string][]byte{}, asked: map[string]string{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(func() {
		d.Close()
		for _, mistake := range d.mistakes {
			t.Error("stripe: " + mistake)
		}
	})
	return d
}

// breaks sets the trouble from now on; nil ends it.
func (d *double) breaks(trouble func(call int, r *http.Request) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = trouble
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	form, _ := url.ParseQuery(body.String())
	d.mu.Lock()
	d.calls++
	status := 0
	if d.trouble != nil {
		status = d.trouble(d.calls, r)
	}
	d.mu.Unlock()
	if status == -1 {
		<-r.Context().Done()
		return
	}
	if status != 0 {
		http.Error(w, `{"error":{"type":"api_error","message":"trouble"}}`, status)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer sk_test_double" {
		d.mistakes = append(d.mistakes, "a request without the key")
	}
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodGet {
		if key == "" {
			d.mistakes = append(d.mistakes, r.Method+" "+r.URL.Path+" without an idempotency key")
		}
		if reply, known := d.replies[key]; known && key != "" {
			if d.asked[key] != body.String() {
				d.mistakes = append(d.mistakes, "another request with the idempotency key "+key)
			}
			_, _ = w.Write(reply)
			return
		}
	}
	reply, status := d.answer(r, form)
	text, _ := json.Marshal(reply)
	if status == 0 {
		status = http.StatusOK
		d.replies[key], d.asked[key] = text, body.String()
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (d *double) answer(r *http.Request, form url.Values) (any, int) {
	query := r.URL.Query()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	kind, id := parts[0], parts[len(parts)-1]
	if kind == "checkout" {
		kind, id = "sessions", strings.Join(parts[2:], "/")
	} else if len(parts) == 1 {
		id = ""
	}
	switch {
	case r.Method == http.MethodPost && kind == "sessions":
		return d.openSession(form), 0
	case r.Method == http.MethodPost && kind == "products":
		return d.keep(form.Get("id"), object{"object": "product", "name": form.Get("name"), "active": true}), 0
	case r.Method == http.MethodPost && kind == "prices":
		return d.makePrice(form), 0
	case r.Method == http.MethodDelete && kind == "subscriptions":
		d.objects[id]["status"] = "canceled"
		d.notify("customer.subscription.deleted", d.objects[id])
		return d.objects[id], 0
	case id != "":
		found, ok := d.objects[id]
		if !ok {
			return object{"error": object{"type": "invalid_request_error", "code": "resource_missing", "message": "no such " + kind}}, 404
		}
		return d.expand(found), 0
	default:
		return d.list(kind, query), 0
	}
}

func (d *double) list(kind string, query url.Values) object {
	data := []object{}
	for _, one := range d.objects {
		match := false
		switch kind {
		case "prices":
			match = one["object"] == "price" && one["lookup_key"] == query.Get("lookup_keys[0]")
		case "sessions":
			match = one["object"] == "checkout.session" && one["payment_intent"] == query.Get("payment_intent")
		case "disputes":
			match = one["object"] == "dispute" && one["charge"] == query.Get("charge")
		}
		if match {
			data = append(data, one)
		}
	}
	return object{"object": "list", "data": data, "has_more": false}
}

// expand puts objects in the place of their ids, as the provider always asks for.
func (d *double) expand(found object) object {
	if found["object"] != "checkout.session" {
		return found
	}
	out := maps.Clone(found)
	for _, field := range []string{"payment_intent", "subscription"} {
		if id, ok := out[field].(string); ok && id != "" {
			out[field] = d.objects[id]
		}
	}
	return out
}

func (d *double) id(prefix string) string {
	d.serial++
	return fmt.Sprintf("%s_%d", prefix, d.serial)
}

func (d *double) keep(id string, made object) object {
	made["id"] = id
	d.objects[id] = made
	return made
}

func (d *double) openSession(form url.Values) object {
	made := object{
		"object": "checkout.session", "mode": form.Get("mode"), "status": "open", "payment_status": "unpaid",
		"price": form.Get("line_items[0][price]"), "amount": form.Get("line_items[0][price_data][unit_amount]"),
	}
	id := d.id("cs_test")
	made["url"] = "https://checkout.stripe.test/" + id
	return d.keep(id, made)
}

func (d *double) makePrice(form url.Values) object {
	for _, one := range d.objects {
		if one["object"] == "price" && one["lookup_key"] == form.Get("lookup_key") {
			one["lookup_key"] = ""
		}
	}
	var cents int64
	_, _ = fmt.Sscan(form.Get("unit_amount"), &cents)
	return d.keep(d.id("price"), object{
		"object": "price", "lookup_key": form.Get("lookup_key"), "unit_amount": cents, "currency": "usd", "active": true,
		"recurring": object{"interval": form.Get("recurring[interval]"), "interval_count": 1},
		"metadata":  object{metaPlan: form.Get("metadata[" + metaPlan + "]"), metaInterval: form.Get("metadata[" + metaInterval + "]")},
	})
}

// notify puts an event into the outbox. It shows the object as it is now.
func (d *double) notify(kind string, about object) {
	text, _ := json.Marshal(about)
	var copied object
	_ = json.Unmarshal(text, &copied)
	d.outbox = append(d.outbox, object{"id": d.id("evt"), "object": "event", "type": kind, "data": object{"object": copied}})
}

// pay completes a session as its payer would.
func (d *double) pay(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.objects[session]
	if found["status"] != "open" {
		return
	}
	found["status"], found["payment_status"] = "complete", "paid"
	found["customer_details"] = object{"email": "Payer@Example.com"}
	if found["mode"] == "subscription" {
		sub := d.keep(d.id("sub"), object{
			"object": "subscription", "status": "active", "current_period_end": time.Now().Add(30 * 24 * time.Hour).Unix(),
			"items": object{"object": "list", "data": []object{{"price": d.objects[found["price"].(string)]}}},
		})
		found["subscription"] = sub["id"]
		d.notify("invoice.paid", object{"id": d.id("in"), "subscription": sub["id"]})
	} else {
		intent := d.keep(d.id("pi"), object{"object": "payment_intent", "status": "succeeded"})
		charge := d.keep(d.id("ch"), object{"object": "charge", "payment_intent": intent["id"], "amount_refunded": 0, "disputed": false})
		intent["charge"], found["payment_intent"] = charge["id"], intent["id"]
	}
	d.notify("checkout.session.completed", found)
}

// set changes a subscription.
func (d *double) set(subscription, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects[subscription]["status"] = status
	kind := "customer.subscription.updated"
	if status == "canceled" {
		kind = "customer.subscription.deleted"
	}
	d.notify(kind, d.objects[subscription])
}

// refund gives back so much in all; dispute is what the payer's bank takes.
func (d *double) refund(session string, cents, disputed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	intent := d.objects[d.objects[session]["payment_intent"].(string)]
	charge := d.objects[intent["charge"].(string)]
	if cents > 0 {
		charge["amount_refunded"] = cents
		d.notify("charge.refunded", charge)
	}
	if disputed > 0 {
		charge["disputed"] = true
		dispute := d.keep(d.id("dp"), object{"object": "dispute", "charge": charge["id"], "amount": disputed, "status": "needs_response"})
		d.notify("charge.dispute.created", dispute)
	}
}

// take empties the outbox.
func (d *double) take() []object {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.outbox
	d.outbox = nil
	return taken
}

func (d *double) sign(event object, secret string, at time.Time) *http.Request {
	payload, _ := json.Marshal(event)
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: payload, Secret: secret, Timestamp: at})
	r := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(signed.Payload))
	r.Header.Set("Stripe-Signature", signed.Header)
	return r
}
