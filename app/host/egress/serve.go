package egress

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

const user = "call"

// ServeHTTP answers one request of the plugin: CONNECT, or one with a whole http
// address.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.known(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="scrollery"`)
		w.Header().Set("Connection", "close") // each costs the plugin a new connection
		http.Error(w, "egress: this proxy belongs to a plugin's call", http.StatusProxyAuthRequired)
		return
	}
	if p.pace.Wait(r.Context()) != nil {
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-time.After(slotTime):
		http.Error(w, "egress: too many connections at once", http.StatusServiceUnavailable)
		return
	case <-r.Context().Done():
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.relay(w, r)
	default:
		http.Error(w, "egress: want CONNECT, or a whole http:// address", http.StatusBadRequest)
	}
}

// known reports whether the request comes from the call's own process.
func (p *Proxy) known(r *http.Request) bool {
	scheme, text, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), " ")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	return err == nil && strings.EqualFold(scheme, "basic") &&
		subtle.ConstantTimeCompare(raw, []byte(user+":"+p.token)) == 1
}

// Refused is the header of answers that are the proxy's own. An answer of a host does not have it.
const Refused = "Scrollery-Egress"

// say answers an error of dial.
func say(w http.ResponseWriter, err error) {
	status, text := words(err)
	w.Header().Set(Refused, "refused")
	http.Error(w, text, status)
}

// words are what a plugin gets to hear of an error of dial.
func words(err error) (status int, text string) {
	var timeout net.Error
	switch {
	case errors.Is(err, errUndeclared), errors.Is(err, errPrivate), errors.Is(err, errSpent):
		return http.StatusForbidden, "egress: " + plain(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return http.StatusGatewayTimeout, "egress: the host does not answer"
	}
	return http.StatusBadGateway, "egress: the host cannot be reached"
}

// sayOfTunnel is say to a CONNECT: the words are in the status line too, since clients show
// nothing else of the answer.
func sayOfTunnel(w http.ResponseWriter, err error) {
	in, _, failed := http.NewResponseController(w).Hijack()
	if failed != nil {
		say(w, err)
		return
	}
	defer in.Close()
	if in.SetDeadline(time.Now().Add(headerTime)) != nil {
		return
	}
	status, text := words(err)
	_, _ = fmt.Fprintf(in, "HTTP/1.1 %d %s\r\n%s: refused\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		status, text, Refused, len(text)+1, text)
}

// plain leaves out what a dialer wrapped around the reason.
func plain(err error) string {
	for _, reason := range []error{errUndeclared, errPrivate, errSpent} {
		if errors.Is(err, reason) {
			return reason.Error()
		}
	}
	return err.Error()
}

// tunnel joins the plugin's connection with one to the target.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := p.dial(r.Context(), r.URL.Host)
	if err != nil {
		sayOfTunnel(w, err)
		return
	}
	defer out.Close()
	in, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "egress: no tunnel over this protocol", http.StatusHTTPVersionNotSupported)
		return
	}
	defer in.Close()
	if in.SetDeadline(out.until) != nil {
		return
	}
	defer context.AfterFunc(p.ctx, func() { _ = in.Close() })()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pump(out, early, in, out) })
	both.Go(func() { pump(in.(half), out, in, out) })
	both.Wait()
}

type half interface {
	io.Writer
	CloseWrite() error
}

// pump copies until from ends, and passes that end on; after an error nothing is
// left to say in either direction.
func pump(to half, from io.Reader, ends ...io.Closer) {
	if _, err := io.Copy(to, from); err == nil && to.CloseWrite() == nil {
		return
	}
	for _, end := range ends {
		_ = end.Close()
	}
}

// relay passes a plain request on, and follows nothing.
func (p *Proxy) relay(w http.ResponseWriter, r *http.Request) {
	// Else the rest of the request is read and closed as the answer begins: a target that
	// answers before the end was passed on would have its connection closed for it.
	if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
		http.Error(w, "egress: no relay over this protocol", http.StatusHTTPVersionNotSupported)
		return
	}
	relay := httputil.ReverseProxy{
		Transport: p.forward,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Del(Refused)
			return nil
		},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { say(w, err) },
		ErrorLog:      p.server.ErrorLog,
	}
	relay.ServeHTTP(w, r)
}

func (p *Proxy) transport() http.RoundTripper {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, target string) (net.Conn, error) {
			conn, err := p.dial(ctx, target)
			if err != nil {
				return nil, err // a nil *metered would be a connection
			}
			return conn, nil
		},
		DisableCompression: true, MaxIdleConnsPerHost: 4, MaxIdleConns: 16, IdleConnTimeout: time.Minute,
		MaxResponseHeaderBytes: headerSize,
	}
}
