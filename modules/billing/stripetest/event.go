package stripetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// WebhookSecret signs the events of the double.
const WebhookSecret = "whsec_of_the_double"

// Event is a event that something happened.
type Event struct {
	ID, Kind string
	// Session that it is about, in the end.
	Session string
	// Body is its JSON, with the object as it was then.
	Body []byte
}

// notify puts an event into the outbox. It shows the object as it is now.
func (d *Double) notify(owner Object, kind string, about Object) {
	id := d.id("evt")
	body, err := json.Marshal(Object{"id": id, "object": "event", "type": kind, "data": Object{"object": about}})
	if err != nil {
		d.t.Error(err)
	}
	session, _ := owner["session"].(string)
	d.outbox = append(d.outbox, Event{id, kind, session, body})
}

// Take takes the events of a session out of the outbox; of every session, where
// it is empty.
func (d *Double) Take(session string) []Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var taken, left []Event
	for _, event := range d.outbox {
		if session == "" || event.Session == session {
			taken = append(taken, event)
		} else {
			left = append(left, event)
		}
	}
	d.outbox = left
	return taken
}

// Sign returns the request that delivers an event to an address.
func Sign(address string, event Event, secret string, at time.Time) *http.Request {
	sum := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(sum, "%d.%s", at.Unix(), event.Body)
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(event.Body))
	if err != nil {
		panic(err) // the address is none
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(sum.Sum(nil))))
	return r
}
