package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

const (
	// fetchTime is how long an archive may take, and stallTime how long a server may be
	// silent before it answers.
	fetchTime = 10 * time.Minute
	stallTime = 30 * time.Second
	redirects = 5
)

// Fetcher reads archives: files, and https addresses of the public internet. The zero
// value is ready.
type Fetcher struct {
	// Transport of requests; nil connects to public addresses alone, without any proxy.
	Transport http.RoundTripper
}

// isAddress reports whether the text is an address, not a path.
func isAddress(from string) bool { return strings.Contains(from, "://") }

// open opens a file or the answer of an address. What it returns reads until ctx ends.
func (f Fetcher) open(ctx context.Context, from string) (io.ReadCloser, error) {
	if !isAddress(from) {
		if info, err := os.Stat(from); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", from)
		}
		return os.Open(from)
	}
	if err := public(from); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, fmt.Errorf("the address %.200q cannot be read", from)
	}
	request.Header.Set("User-Agent", "Scrollery-Plugins/1")
	answer, err := f.client().Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch the archive: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, &statusError{from: from, status: answer.StatusCode}
	}
	return answer.Body, nil
}

// statusError is an answer other than the file.
type statusError struct {
	from   string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%.200s answers with status %d", e.from, e.status)
}

// absent reports whether there is no such file, here or at an address.
func absent(err error) bool {
	var status *statusError
	return errors.Is(err, os.ErrNotExist) || errors.As(err, &status) && (status.status == http.StatusNotFound || status.status == http.StatusGone)
}

func (f Fetcher) client() *http.Client {
	through := f.Transport
	if through == nil {
		dial := &net.Dialer{Timeout: stallTime, Control: weburl.Control}
		through = &http.Transport{
			DialContext: dial.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: stallTime, ResponseHeaderTimeout: stallTime,
			DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &http.Client{Transport: through, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if len(before) > redirects {
			return fmt.Errorf("more than %d redirects", redirects)
		}
		return public(next.URL.String())
	}}
}

// public fails for an address that is not https, or whose host is not public by its name.
func public(address string) error {
	if _, err := weburl.Parse(address); err != nil {
		return fmt.Errorf("the address %.200q %w", address, err)
	}
	return nil
}

// signatureOf is where the signature of an archive is.
func signatureOf(from string) string {
	if !isAddress(from) {
		return from + SignatureEnding
	}
	end := strings.IndexAny(from, "?#")
	if end < 0 {
		end = len(from)
	}
	return from[:end] + SignatureEnding + from[end:]
}
