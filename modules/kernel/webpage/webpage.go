// Package webpage reads the text of a tenant's own website or app-store page.
//
// It returns the title, description, keywords and headings. It runs no script, fetches
// no picture, style or frame, connects only to public addresses and never leaves the
// host that it was given. The text is untrusted, like everything on the web.
package webpage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Config bounds the reading.
type Config struct {
	// Timeout bounds one page, with its redirects. Default 10 s.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes is the most bytes of a page that are read, after decompression.
	// Default 2 MiB.
	MaxBytes int64 `yaml:"max_bytes"`
	// LookupURL is Apple's lookup of apps. Default https://itunes.apple.com/lookup.
	LookupURL string `yaml:"lookup_url"`
	// Transport is for tests; nil dials public addresses.
	Transport http.RoundTripper `yaml:"-"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{Timeout: 10 * time.Second, MaxBytes: 2 << 20, LookupURL: "https://itunes.apple.com/lookup"}
}

// Validate reports every invalid value.
func (c Config) Validate() error {
	var faults []error
	if c.Timeout <= 0 {
		faults = append(faults, fmt.Errorf("timeout: %v is not positive", c.Timeout))
	}
	if c.MaxBytes < 1 {
		faults = append(faults, fmt.Errorf("max bytes: %d is less than 1", c.MaxBytes))
	}
	lookup, err := url.Parse(c.LookupURL)
	if err != nil || lookup.Host == "" || lookup.Scheme != "https" && lookup.Scheme != "http" {
		faults = append(faults, fmt.Errorf("lookup url: %q is not an http or https address", c.LookupURL))
	}
	return errors.Join(faults...)
}

// The reasons for not reading a page.
var (
	ErrElsewhere = errors.New("it redirects to another host")
	ErrTooMany   = errors.New("it redirects too often")
	ErrNoPage    = errors.New("the answer is not a page")
	ErrNoApp     = errors.New("the app store does not know the app")
)

// maxRedirects of one page.
const maxRedirects = 5

// Reader reads pages. It is safe for concurrent use.
type Reader struct {
	config Config
	client *http.Client
}

// New returns a reader within the bounds of config.
func New(config Config) *Reader {
	transport := config.Transport
	if transport == nil {
		transport = public()
	}
	return &Reader{config: config, client: &http.Client{Transport: transport, CheckRedirect: stay}}
}

// public dials only public addresses. It checks each address after the name was
// resolved.
func public() *http.Transport {
	return &http.Transport{
		DialContext: guarded().DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConns: 10, IdleConnTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

func guarded() *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, Control: weburl.Control}
}

// stay follows a redirect within the host, with or without its www, over https.
func stay(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return ErrTooMany
	}
	first := before[0].URL
	if next.URL.Scheme != first.Scheme || next.URL.User != nil || next.URL.Port() != first.Port() ||
		bare(next.URL) != bare(first) {
		return ErrElsewhere
	}
	return nil
}

func bare(u *url.URL) string {
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// Read returns the words of a public https address: of the page there, or of the
// app that an app-store address names.
func (r *Reader) Read(ctx context.Context, text string) (stage.Page, error) {
	target, err := weburl.Parse(text)
	if err != nil {
		return stage.Page{}, fmt.Errorf("read page: the address %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	page := stage.Page{URL: target.URL}
	if target.AppID != "" {
		page.Title, page.Text, err = r.app(ctx, target.AppID)
	} else {
		page.Title, page.Text, err = r.page(ctx, target.URL)
	}
	if err != nil {
		return stage.Page{}, fmt.Errorf("read %s: %w", target.Host, plain(err))
	}
	return page, nil
}

// plain removes the address from a client's error: it may be long, and the caller
// knows it.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// get requests an address; the caller closes the body.
func (r *Reader) get(ctx context.Context, target, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Accept-Language", "en, *;q=0.5")
	request.Header.Set("User-Agent", "Scrollery/1 (reads the words of its customers' own pages)")
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("it answers %d", answer.StatusCode)
	}
	return answer, nil
}
