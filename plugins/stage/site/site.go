// Package site asks one site's interface as a source should: one request at a
// time, with a pause in between, an end to every answer in time and in size, and
// no secret or address in what it says went wrong.
//
// It knows no site. What an answer means is its caller's to say, as a Stop where
// nothing more is to be had; Each turns that into an outcome for every seed.
package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/redact"
)

// The bounds where Options leave them open.
const (
	// Body is the most bytes that an answer may have.
	Body = 8 << 20
	// Timeout of one request and its answer: well below the host's limit for a stall.
	Timeout = 45 * time.Second
	// Gap is the least time between two requests.
	Gap = 250 * time.Millisecond
	// Patience is how long all waits of a call may take together.
	Patience = 10 * time.Minute
)

// Options of a Site; zero takes the bound above.
type Options struct {
	Body     int64
	Timeout  time.Duration
	Gap      time.Duration
	Patience time.Duration
	// Impatient never waits, whatever Patience says.
	Impatient bool
	// Clock is the system's where it is nil.
	Clock Clock
}

// Site is one site during one call. It is safe for concurrent use.
type Site struct {
	client   *http.Client
	progress func(string)
	options  Options

	mu      sync.Mutex // one request at a time
	next    time.Time  // not asked before
	hidden  []string
	waiting sync.Mutex // guards left
	left    time.Duration
}

// New prepares to ask; the secrets of the call stay out of every error.
func New(call *stage.Call, options Options) *Site {
	fill(&options.Body, Body)
	fill(&options.Timeout, Timeout)
	fill(&options.Gap, Gap)
	fill(&options.Patience, Patience)
	if options.Impatient {
		options.Patience = 0
	}
	if options.Clock == nil {
		options.Clock = System{}
	}
	client := call.HTTP()
	// An interface has no reason to send its callers elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if direct, is := client.Transport.(*http.Transport); is && options.Timeout > Timeout {
		direct = direct.Clone()
		direct.ResponseHeaderTimeout = options.Timeout
		client.Transport = direct
	}
	s := &Site{client: client, progress: call.Progress, options: options, left: options.Patience}
	for _, secret := range call.Secrets {
		s.Hide(secret)
	}
	return s
}

func fill[T ~int64](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// Hide keeps a secret that was learnt on the way out of errors.
func (s *Site) Hide(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = append(s.hidden, redact.Forms(secret)...)
	slices.SortStableFunc(s.hidden, func(a, b string) int { return len(b) - len(a) }) // one may begin as another does
}

// Request is what is asked.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
}

// refused is the header by which the host's proxy marks answers of its own.
const refused = "Scrollery-Egress"

// Answer is what came, whole; NUL bytes are left out.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Unreachable is a request without a whole answer: no connection, a connection that
// broke, an answer that was too late or too long.
type Unreachable struct{ Reason string }

func (e *Unreachable) Error() string { return e.Reason }

// Ask asks once. The error is an *Unreachable, or the context's.
func (s *Site) Ask(ctx context.Context, r Request) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.turn(ctx); err != nil {
		return Answer{}, err
	}
	s.progress("asking")
	alive := s.alive()
	answer, err := s.ask(ctx, r)
	alive()
	s.progress("answered")
	s.next = s.options.Clock.Now().Add(s.options.Gap)
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	return Answer{}, &Unreachable{s.clean(err)}
}

// Turn waits until a request may be made, and makes none.
func (s *Site) Turn(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn(ctx)
}

func (s *Site) turn(ctx context.Context) error {
	if wait := s.next.Sub(s.options.Clock.Now()); wait > 0 {
		return s.options.Clock.Sleep(ctx, wait)
	}
	return nil
}

// alive shows the host that the stage waits for an answer that may take longer than a stall.
func (s *Site) alive() (stop func()) {
	if s.options.Timeout <= Timeout {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(signs):
				s.progress("waiting for an answer")
			}
		}
	}()
	return func() { close(over) }
}

// Slow asks for a longer pause before the next request.
func (s *Site) Slow(pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.options.Clock.Now().Add(pause); at.After(s.next) {
		s.next = at
	}
}

func (s *Site) ask(ctx context.Context, r Request) (Answer, error) {
	inner, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, errLate)
	defer cancel()
	request, err := http.NewRequestWithContext(inner, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, err
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	response, err := s.client.Do(request)
	if err != nil {
		return Answer{}, cause(inner, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, s.options.Body+1))
	if err != nil {
		return Answer{}, fmt.Errorf("the answer broke off: %w", cause(inner, err))
	}
	if response.Header.Get(refused) != "" && request.URL.Scheme == "http" { // it is the box's; through a tunnel it would be the site's
		return Answer{}, errors.New(strings.TrimSpace(string(body)))
	}
	if int64(len(body)) > s.options.Body {
		return Answer{}, fmt.Errorf("the answer has more than %d bytes", s.options.Body)
	}
	if bytes.IndexByte(body, 0) >= 0 {
		body, _ = stage.CleanJSON(body)
	}
	return Answer{response.StatusCode, response.Header, body}, nil
}

var errLate = errors.New("the answer was too late")

func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// clean is the reason without the address: that may hold a token, and what else
// it holds is the operator's.
func (s *Site) clean(err error) string {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	text := err.Error()
	for _, secret := range s.hidden {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

// Clean is a site's own words, fit for an outcome's detail: short, of one line,
// without secrets.
func (s *Site) Clean(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.hidden {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return strings.Join(strings.Fields(cut(strings.ToValidUTF8(text, "\uFFFD"), 300)), " ")
}
