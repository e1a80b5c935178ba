// Package stripetest is a Stripe for tests: it stores what it receives, over HTTP,
// lets payers act, and signs events of what happened. It knows nothing of the
// service, so that a whole binary can be driven against it.
package stripetest

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
)

// SecretKey is the only key that the double takes.
const SecretKey = "sk_test_double"

// Object is one of Stripe's, in its JSON form.
type Object = map[string]any

// Double is a stateful Stripe. What it is asked wrongly, without its key or
// without an idempotency key, fails the test at its end.
type Double struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	serial  int
	objects map[string]Object // by id
	replies map[string]reply  // by idempotency key
	outbox  []Event           // events that no one has taken
	calls   int
	named   int // calls that named one object
	trouble func(Request) Trouble
}

// reply is what a write was answered, and what it asked.
type reply struct {
	asked, text []byte
}

// Request is what trouble is decided by.
type Request struct {
	// Call counts the requests from 1.
	Call         int
	Method, Path string
}

// Trouble comes instead of an answer; the zero value is none.
type Trouble struct {
	// Wait comes before everything else.
	Wait time.Duration
	// Status is answered instead of the reply.
	Status int
	// Never answers, until the client hangs up.
	Never bool
	// Done says that the request was carried out all the same: only its answer
	// is lost.
	Done bool
	// Then is called at the end, before anything is answered.
	Then func()
}

// New returns a double that closes with the test.
func New(t testing.TB) *Double {
	d := &Double{t: t, objects: map[string]Object{}, replies: map[string]reply{}}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.CloseClientConnections)
	t.Cleanup(d.Close)
	return d
}

// Breaks sets the trouble from now on; nil ends it.
func (d *Double) Breaks(trouble func(Request) Trouble) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = trouble
}

// Calls is how many requests have come.
func (d *Double) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Named is how many requests have come that named one object, as one does that a
// notice leads to. Lists are left out: a server asks for them unbidden.
func (d *Double) Named() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.named
}

// Text returns a field of an object, empty if there is none.
func (d *Double) Text(id, field string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, _ := d.objects[id][field].(string)
	return text
}

func (d *Double) serve(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		return // the sender was killed in the midst of it: nothing was asked
	}
	d.mu.Lock()
	d.calls++
	if _, id := resource(r.URL.Path); id != "" {
		d.named++
	}
	call, decide := d.calls, d.trouble
	d.mu.Unlock()
	var trouble Trouble
	if decide != nil {
		trouble = decide(Request{call, r.Method, r.URL.Path})
	}
	if !pause(r, trouble.Wait) {
		return
	}
	status, text := 0, []byte(nil)
	if trouble.Done || trouble.Status == 0 && !trouble.Never {
		status, text = d.handle(r, body.Bytes())
	}
	if trouble.Then != nil {
		trouble.Then()
	}
	switch {
	case trouble.Never:
		<-r.Context().Done()
		return
	case trouble.Status != 0:
		status, text = trouble.Status, []byte(`{"error":{"type":"api_error","message":"trouble"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// pause is false if the client does not wait for its end.
func pause(r *http.Request, wait time.Duration) bool {
	if wait == 0 {
		return true
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// handle answers; a write that was answered before is answered alike.
func (d *Double) handle(r *http.Request, body []byte) (status int, text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := r.Header.Get("Authorization"); got != "Bearer "+SecretKey {
		return refuse(http.StatusUnauthorized, "", "", "no such key")
	}
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodGet {
		if key == "" {
			d.t.Errorf("stripe: %s %s without an idempotency key", r.Method, r.URL.Path)
		}
		if known, ok := d.replies[key]; ok {
			if !bytes.Equal(known.asked, body) {
				d.t.Errorf("stripe: another request with the idempotency key %s", key)
			}
			return http.StatusOK, known.text
		}
	}
	form, _ := url.ParseQuery(string(body))
	found, status, message := d.answer(r, form)
	if status != http.StatusOK {
		code, param := "", ""
		if status == http.StatusNotFound {
			code = "resource_missing"
		}
		if strings.HasPrefix(message, noCustomer) {
			code, param = "resource_missing", "customer"
		}
		return refuse(status, code, param, message)
	}
	text, _ = json.Marshal(found)
	if r.Method != http.MethodGet {
		d.replies[key] = reply{body, text}
	}
	return http.StatusOK, text
}

func refuse(status int, code, param, message string) (int, []byte) {
	text, _ := json.Marshal(Object{"error": Object{"type": "invalid_request_error", "code": code, "param": param, "message": message}})
	return status, text
}

func (d *Double) id(prefix string) string {
	d.serial++
	return fmt.Sprintf("%s_%d", prefix, d.serial)
}

func (d *Double) keep(id string, made Object) Object {
	made["id"], made["created"] = id, time.Now().Unix()
	d.objects[id] = made
	return made
}

// expand puts objects in the place of their ids, as the service always asks for.
func (d *Double) expand(found Object) Object {
	fields := map[any][]string{
		"checkout.session": {"payment_intent", "subscription"}, "subscription": {"latest_invoice"},
	}[found["object"]]
	out := maps.Clone(found)
	for _, field := range fields {
		if id, ok := out[field].(string); ok && id != "" {
			out[field] = d.objects[id]
		}
	}
	return out
}
