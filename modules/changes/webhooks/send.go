package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

const (
	// maxAnswer is the most bytes of an answer that are read. None are kept.
	maxAnswer = 4 << 10
	// maxRetryAfter bounds the wait that a receiver asks for.
	maxRetryAfter = 24 * time.Hour
)

var errBlocked = errors.New("the address is not public")

// dialer connects to public addresses alone: it judges each address after the name was
// resolved. resolver is nil for the system's.
func dialer(resolver *net.Resolver) *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, Resolver: resolver, Control: func(network, address string, conn syscall.RawConn) error {
		if err := weburl.Control(network, address, conn); err != nil {
			return fmt.Errorf("%w: %w", errBlocked, err)
		}
		return nil
	}}
}

func transport(dial *net.Dialer) *http.Transport {
	return &http.Transport{
		DialContext: dial.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second, DisableCompression: true,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 16 << 10,
	}
}

// client never follows a redirect, has no cookies and uses no proxy.
func client(through http.RoundTripper) *http.Client {
	return &http.Client{Transport: through, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// outgoing is a message with its signatures to be.
type outgoing struct {
	id, kind string
	body     []byte
}

// result is what came of an attempt.
type result struct {
	outcome string
	status  int
	// wait is what the receiver asked for; 0 for nothing.
	wait time.Duration
	took time.Duration
}

// post makes one attempt.
func (s *sender) post(ctx context.Context, address string, secrets [][]byte, m outgoing) (r result) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	now := s.now()
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(m.body))
	if err != nil {
		return result{outcome: Unreachable}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Scrollery-Webhooks/1")
	request.Header.Set("Webhook-Id", m.id)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	request.Header.Set("Webhook-Signature", sign(secrets, m.id, now, m.body))
	answer, err := s.client.Do(request)
	if err != nil {
		return result{outcome: reason(err)}
	}
	defer answer.Body.Close()                           //nolint:errcheck // nothing of it is used
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be used again
	r = result{outcome: Refused, status: answer.StatusCode}
	switch {
	case r.status >= 200 && r.status < 300:
		r.outcome = Delivered
	case r.status >= 300 && r.status < 400:
		r.outcome = Redirected
	default:
		r.wait = retryAfter(answer.Header.Get("Retry-After"), now)
	}
	return r
}

// reason is the outcome of an attempt without an answer.
func reason(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, errBlocked):
		return Blocked
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return TimedOut
	default:
		return Unreachable
	}
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(text string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}
