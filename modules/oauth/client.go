package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/scrollery/scrollery/modules/kernel/cache"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// Bounds of a client's metadata document.
const (
	maxClientID   = 512
	maxDocument   = 5 << 10 // bytes, by the draft
	maxRedirects  = 50
	documentWait  = 5 * time.Second
	fetchesAtOnce = 64 // one address has two or three at its rate, with documents that come late
	keptDocuments = 1000
	// A document is kept as long as its headers say, within these bounds.
	leastKept = 5 * time.Minute
	mostKept  = 24 * time.Hour
)

// Why a client is not known. They are shown as they are.
var (
	errClientID  = errors.New("client_id must be the https address of the program's metadata document, with a path, without a fragment, a user name or dot segments")
	errFetch     = errors.New("the program's metadata document could not be read: it must be JSON of at most 5 KiB, at that address itself, within 5 seconds")
	errDocument  = errors.New("the program's metadata document is not one: its client_id must be its own address, redirect_uris a list, and token_endpoint_auth_method none")
	errFetchBusy = errors.New("too many programs are looked up right now; try again in a minute")
)

// document is what is read of a client's metadata document. Names and pictures are not:
// nothing in it is proved.
type document struct {
	redirects []string
}

// allows reports whether the client may be sent back to an address: one of its own, to
// the letter. The port of a loopback address is any, since programs take a free one.
func (d document) allows(address string) bool {
	if !redirectForm().MatchString(address) {
		return false
	}
	if slices.Contains(d.redirects, address) {
		return true
	}
	bare, isLoopback := withoutPort(address)
	return isLoopback && slices.ContainsFunc(d.redirects, func(own string) bool {
		other, is := withoutPort(own)
		return is && redirectForm().MatchString(own) && other == bare
	})
}

// redirectForm is an https address, or an http address of the person's own machine.
var redirectForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(https://[A-Za-z0-9.-]+|http://(127\.0\.0\.1|localhost|\[::1\]))(:[0-9]{1,5})?([/?][A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?$`)
})

// loopback splits an http address of this machine around its port.
var loopbackForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]{1,5})?([/?].*)?$`)
})

func withoutPort(address string) (bare string, isLoopback bool) {
	parts := loopbackForm().FindStringSubmatch(address)
	if parts == nil {
		return "", false
	}
	return parts[1] + parts[2], true
}

// clients fetches and keeps the documents of clients.
type clients struct {
	http  *http.Client
	kept  cache.Of[string, *keptDocument]
	slots chan struct{}
	now   func() time.Time
}

type keptDocument struct {
	document
	until time.Time
}

func newClients(transport http.RoundTripper) (*clients, error) {
	if transport == nil {
		transport = publicTransport()
	}
	kept, err := cache.New(otter.Options[string, *keptDocument]{
		MaximumSize: keptDocuments, ExpiryCalculator: otter.ExpiryWriting[string, *keptDocument](mostKept),
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the documents of clients: %w", err)
	}
	return &clients{
		http: &http.Client{Transport: transport, Timeout: documentWait, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // its status is no 200
		}},
		kept: kept, slots: make(chan struct{}, fetchesAtOnce), now: time.Now,
	}, nil
}

// publicTransport dials only public addresses. It checks each after the name was resolved.
func publicTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: documentWait, Control: weburl.Control}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: documentWait,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10,
	}
}

// checkClientID returns the host of a client's address, or errClientID.
func checkClientID(id string) (host string, err error) {
	if len(id) > maxClientID || !strings.HasPrefix(id, "https://") || strings.ContainsAny(id, "#\"<>{}|^`") {
		return "", errClientID
	}
	public, err := weburl.Parse(id)
	if err != nil {
		return "", errClientID
	}
	parsed, err := url.Parse(id)
	if err != nil || parsed.User != nil || parsed.Path == "" || parsed.Path == "/" || parsed.String() != id {
		return "", errClientID
	}
	for _, segment := range strings.Split(parsed.Path, "/") {
		if segment == "." || segment == ".." {
			return "", errClientID
		}
	}
	return public.Host, nil
}

// find returns the document of a client, whose address was checked.
func (c *clients) find(ctx context.Context, id string) (document, error) {
	if kept, ok := c.kept.GetIfPresent(id); ok && c.now().Before(kept.until) {
		return kept.document, nil
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return document{}, errFetchBusy
	}
	found, keep, err := c.fetch(ctx, id)
	if err != nil {
		return document{}, err
	}
	if keep > 0 {
		c.kept.Set(id, &keptDocument{found, c.now().Add(keep)})
	}
	return found, nil
}

// fetch reads a document, and how long it may be kept. Its error is one that may be shown:
// what a network says is not passed on.
func (c *clients) fetch(ctx context.Context, id string) (found document, keep time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, documentWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return document{}, 0, errClientID
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "Scrollery/1 (reads OAuth client metadata)")
	answer, err := c.http.Do(request)
	if err != nil {
		return document{}, 0, errFetch
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !isJSON(answer.Header.Get("Content-Type")) {
		return document{}, 0, errFetch
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil || len(text) > maxDocument {
		return document{}, 0, errFetch
	}
	found, err = readDocument(id, text)
	return found, keepFor(answer.Header.Values("Cache-Control")), err
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

func readDocument(id string, text []byte) (document, error) {
	var said struct {
		ClientID   string   `json:"client_id"`
		Redirects  []string `json:"redirect_uris"`
		AuthMethod *string  `json:"token_endpoint_auth_method"`
		GrantTypes []string `json:"grant_types"`
		// Secret must not be there: everyone can read the document.
		Secret json.RawMessage `json:"client_secret"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return document{}, errDocument
	}
	if said.ClientID != id || len(said.Redirects) == 0 || len(said.Redirects) > maxRedirects || said.Secret != nil ||
		said.AuthMethod != nil && *said.AuthMethod != "none" ||
		said.GrantTypes != nil && !slices.Contains(said.GrantTypes, "authorization_code") {
		return document{}, errDocument
	}
	return document{said.Redirects}, nil
}

// keepFor is how long an answer with these Cache-Control headers is kept; 0: not at all.
func keepFor(headers []string) time.Duration {
	keep := leastKept
	for _, word := range strings.Split(strings.ToLower(strings.Join(headers, ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		switch name {
		case "no-store", "no-cache", "private":
			return 0
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil {
				keep = min(max(time.Duration(seconds)*time.Second, leastKept), mostKept)
			}
		}
	}
	return keep
}
