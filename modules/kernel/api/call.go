package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Caller is the holder of a key.
type Caller struct {
	Viewer *viewer.Viewer
	// BudgetWait is above 0 when the budget is spent: the time to its next window.
	BudgetWait time.Duration
}

// Admitter identifies the holder of a key.
type Admitter interface {
	// Admit looks up the text after `Bearer `. It fails with Unauthorized for an
	// unknown key and with AuthRequired for a session that has ended.
	Admit(ctx context.Context, secret string) (*Caller, error)
}

// Event is the usage event of one call.
type Event struct {
	// Op is the operation id.
	Op string
	// Status is `ok`, `subscription_required`, `rate_limited`, `forbidden` or `error`.
	Status string
	// Viewer is nil for a call without a valid key.
	Viewer *viewer.Viewer
	// Units is what the call costs; 0 unless it succeeded.
	Units int
	At    time.Time
	// OverRate marks a refusal beyond the account's rate, of which there can be any number.
	OverRate bool
}

// Recorder stores usage events.
type Recorder interface {
	// Record takes an event, which is stored soon, and included at once in what callers see
	// of usage.
	Record(ctx context.Context, e Event) error
}

// A Joiner is a Recorder that can write the event of a call in the transaction of the
// call's own write, so that both are committed or neither.
type Joiner interface {
	// Join returns a context whose first write takes the event along. event is called
	// within the write.
	Join(ctx context.Context, event func() Event) (context.Context, Joined)
}

// Joined is an event that a write may take along.
type Joined interface {
	// Close returns the event that was committed with a write, or nil. Writes after it
	// take none along.
	Close() *Event
	// Amend gives a committed event another outcome.
	Amend(ctx context.Context, e Event) error
}

// call is one request on its way through the kernel. It belongs to one goroutine.
type call struct {
	mux       *Mux
	place     place
	body      intake
	op        *operation // nil: the request maps to none
	protocol  string
	requestID string
	start     time.Time
	request   *http.Request
	writer    http.ResponseWriter
	header    http.Header // of the answer
	viewer    *viewer.Viewer
	status    int    // HTTP status of a success
	cursor    string // of the next message of a stream
	units     int
	raw       map[string]json.RawMessage
	faults    *rest.Issues // found so far, while a Check runs
	recorded  bool
	overRate  bool          // refused for its rate
	preflight bool          // a browser asks what it may ask
	joined    Joined        // nil if the event goes with no write
	code      string        // of the answer: `ok` or an error code
	cause     error         // for the log only
	refused   *apierr.Error // what the caller was told; nil for a failure
	notes     []slog.Attr   // further members of the log line
	asked     string        // what an agent asked for that is no operation
	quiet     bool          // the calls that it carried have lines of their own
	sent      int           // HTTP status of the answer; 0: not sent yet
	// values holds the header values that the kernel itself sets.
	values [8]string
	used   int
}

// set sets a header of the answer; name is in canonical form.
func (c *call) set(name, value string) {
	if c.used == len(c.values) {
		c.header[name] = []string{value}
		return
	}
	c.values[c.used] = value
	c.header[name] = c.values[c.used : c.used+1 : c.used+1]
	c.used++
}

// note adds a failure that the answer does not show to the call's log line.
func (c *call) note(name string, err error) { c.notes = append(c.notes, slog.Any(name, err)) }

// Note adds a failure that the answer does not show to the log line of this call.
func Note(ctx context.Context, name string, err error) {
	if c := callFrom(ctx); c != nil {
		c.note(name, err)
	}
}

type callKey struct{}

// within is the context of a call.
type within struct {
	context.Context
	call *call
}

func (w within) Value(key any) any {
	switch key.(type) {
	case callKey:
		return w.call
	case fair.AsideKey:
		return fair.Aside(w.call.place.aside)
	}
	return w.Context.Value(key)
}

func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Status sets the HTTP status of this call's success on REST. It has no effect
// over the other protocols.
func Status(ctx context.Context, status int) {
	if c := callFrom(ctx); c != nil {
		c.status = status
	}
}

// Units sets the price of this call, in units; it applies when the call succeeds.
func Units(ctx context.Context, units int) {
	if c := callFrom(ctx); c != nil {
		c.units = units
	}
}

// RetryAfter tells the caller, in the header Retry-After of this call's success, when it
// is worth calling again; over every protocol. wait is rounded up to whole seconds.
func RetryAfter(ctx context.Context, wait time.Duration) {
	if c := callFrom(ctx); c != nil {
		c.set("Retry-After", strconv.FormatInt(wholeSeconds(wait), 10))
	}
}

// Waiting runs do, which waits for something to happen, within the bounds of a stream: it
// counts among the streams of the call's key, and not among the calls in flight, and its
// context ends with the key, and when the process stops.
func Waiting(ctx context.Context, do func(ctx context.Context) error) error {
	c := callFrom(ctx)
	if c == nil {
		return do(ctx)
	}
	leave, err := c.enterStream()
	if err != nil {
		return err
	}
	defer leave()
	c.place.end()
	c.place.carriedBy.rest()
	return c.bounded(ctx, nil, do)
}

// RawField returns the JSON text of a free-form property (`agentMetadata`) as
// the caller sent it, without insignificant white space; over the other protocols
// it is rendered from the value. It is nil when the property was not sent.
func RawField(ctx context.Context, name string) json.RawMessage {
	if c := callFrom(ctx); c != nil {
		return c.raw[name]
	}
	return nil
}

// Faulty reports whether one of these properties of the request, in JSON names, or an
// item of it is known to be faulty. It is for a Check, which sees such a property as
// absent and must not say that it is missing.
func Faulty(ctx context.Context, names ...string) bool {
	c := callFrom(ctx)
	return c != nil && c.faults != nil && slices.ContainsFunc(names, c.faults.Within)
}

func (c *call) keepRaw(name string, text json.RawMessage) {
	if c.raw == nil {
		c.raw = map[string]json.RawMessage{}
	}
	c.raw[name] = text
}

// eventStatus returns the outcome in a usage event's words.
func eventStatus(err error) string {
	if err == nil {
		return "ok"
	}
	f := apierr.As(err)
	if f == nil {
		return "error"
	}
	switch f.Kind {
	case apierr.SubscriptionRequired:
		return "subscription_required"
	case apierr.RateLimited:
		return "rate_limited"
	case apierr.Unauthorized, apierr.AuthRequired, apierr.Forbidden, apierr.TierRequired:
		return "forbidden"
	default:
		return "error"
	}
}
