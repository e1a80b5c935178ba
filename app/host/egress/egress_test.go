package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// setup opens a proxy that takes this machine for a public one, since a test has no
// other to reach; what is public is modules/kernel/weburl' matter.
func setup(t *testing.T, config Config) (*Proxy, *http.Client, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	config.Log = slog.New(slog.NewTextHandler(log, nil))
	if config.Lookup == nil {
		config.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			if strings.Contains(host, "acme.example") {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
	}
	p, err := Open(config, netip.AddrPort{})
	if err != nil {
		t.Fatal(err)
	}
	p.public = func(ip netip.Addr) bool { return ip.IsLoopback() }
	t.Cleanup(func() { p.Close() })
	address, err := url.Parse(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(address)}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Transport: transport}, log
}

func port(t *testing.T, server *httptest.Server) string {
	t.Helper()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address.Port()
}

func get(client *http.Client, address string) (int, string, error) {
	response, err := client.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}

func TestHosts(t *testing.T) {
	t.Parallel()
	h, err := newHosts([]string{"API.acme.example:443", "*.cdn.example:0443", "[2001:db8::1]:80"}, []string{"localhost:11434"})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string][2]bool{
		"api.acme.example:443":        {false, true},
		"Api.Acme.Example:443":        {false, true},
		"api.acme.example:80":         {},
		"api.acme.example.:443":       {},
		"x.api.acme.example:443":      {},
		"a.cdn.example:443":           {false, true},
		"a.b.cdn.example:443":         {false, true},
		"cdn.example:443":             {},
		".cdn.example:443":            {},
		"evilcdn.example:443":         {},
		"a.cdn.example.evil.test:443": {},
		"[2001:db8::1]:80":            {false, true},
		"localhost:11434":             {true, true},
		"localhost:5432":              {},
	} {
		t.Run(target, func(t *testing.T) {
			host, port, err := split(target)
			if err != nil {
				t.Fatal(err)
			}
			private, ok := h.find(host, port)
			if got := [2]bool{private, ok}; got != want {
				t.Errorf("%s: %v, want %v", target, got, want)
			}
		})
	}
	for _, bad := range []string{"", "acme", "acme:", ":80", "acme:0", "acme:65536", "acme:http"} {
		t.Run(fmt.Sprintf("%q is refused", bad), func(t *testing.T) {
			if _, err := newHosts([]string{bad}, nil); err == nil {
				t.Errorf("%q passes for a host, want an error", bad)
			}
		})
	}
}

// TestAnswersBeforeTheRequestEnds: an answer is passed on while its request is still read.
// Were the rest of the request taken away as the answer begins, the answer would be cut off.
func TestAnswersBeforeTheRequestEnds(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_, err := io.ReadFull(r.Body, make([]byte, len("begin")))
		err = errors.Join(err, control.EnableFullDuplex(), control.Flush())
		rest, failed := io.ReadAll(r.Body)
		if err = errors.Join(err, failed); err != nil || string(rest) != "end" {
			t.Errorf("the rest of the request: got %q, %v, want end", rest, err)
		}
		_, _ = w.Write(make([]byte, size))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // before it, as a handler may still wait
	_, client, _ := setup(t, Config{Hosts: []string{"acme.example:" + port(t, server)}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	body, request := io.Pipe()
	defer request.Close()
	defer context.AfterFunc(ctx, func() { _ = request.CloseWithError(ctx.Err()) })() // what sends the request waits for it
	go func() { _, _ = io.WriteString(request, "begin") }()
	call, err := http.NewRequestWithContext(ctx, "POST", "http://acme.example:"+port(t, server), body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(call)
	if err != nil {
		t.Fatalf("the answer: got %v, want it before the request ends", err)
	}
	defer answer.Body.Close()
	if _, err := io.WriteString(request, "end"); err != nil {
		t.Fatal(err)
	}
	if err := request.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(answer.Body); err != nil || len(got) != size {
		t.Errorf("the answer: got %d bytes, %v, want %d", len(got), err, size)
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"https://api.acme.example/v1": "api.acme.example:443", "http://localhost:11434": "localhost:11434",
		"HTTP://[::1]/": "[::1]:80", "ftp://x": "", "localhost:11434": "", "https://": "", "/x": "", "http://x:0": "", "http:x": "",
	} {
		t.Run(value, func(t *testing.T) {
			got, err := Endpoint(value)
			if (err != nil) != (want == "") || err == nil && got != want {
				t.Errorf("%s: %q, %v, want %q", value, got, err, want)
			}
		})
	}
}

func TestDeclaredHost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Proxy-Authorization"])+len(r.Header["X-Forwarded-For"]) > 0 {
			t.Errorf("the proxy shows in %v, want 0", r.Header)
		}
		fmt.Fprintf(w, "%s %s %s", r.Host, r.URL.RawQuery, r.UserAgent())
	}))
	defer server.Close()
	secure := httptest.NewTLSServer(server.Config.Handler)
	defer secure.Close()
	p, client, _ := setup(t, Config{Hosts: []string{"acme.example:" + port(t, server), "*.acme.example:" + port(t, secure), "gone.example:80"}})
	status, text, err := get(client, "http://acme.example:"+port(t, server)+"/?q=%zz;x")
	if want := "acme.example:" + port(t, server) + " q=%zz;x Go-http-client/1.1"; err != nil || status != 200 || text != want {
		t.Errorf("%d %q %v, want %q", status, text, err, want)
	}
	trusting := secure.Client().Transport.(*http.Transport)
	trusting.Proxy = client.Transport.(*http.Transport).Proxy
	status, text, err = get(&http.Client{Transport: trusting}, "https://www.example.com:"+port(t, secure))
	if err == nil {
		t.Errorf("an undeclared name got %d %q, want an error", status, text)
	}
	trusting.TLSClientConfig.ServerName = "example.com" // what the test's certificate says
	status, text, err = get(&http.Client{Transport: trusting}, "https://a.acme.example:"+port(t, secure))
	if err != nil || status != 200 {
		t.Errorf("got %d %q, error %v; want 200", status, text, err)
	}
	if status, text, err := get(client, "http://gone.example"); status != 502 {
		t.Errorf("an unknown name: %d %q %v, want 502", status, text, err)
	}
	trusting.CloseIdleConnections()
	if traffic := p.Close(); traffic.Connections != 2 || traffic.Denied != 1 || traffic.Sent < 500 || traffic.Received < 500 {
		t.Errorf("%+v, want Connections 2, Denied 1, Sent at least 500 and Received at least 500", traffic)
	}
	if _, _, err := get(client, "http://acme.example:"+port(t, server)); err == nil {
		t.Error("it serves after its end, want an error")
	}
}

func TestAddressIsJudgedWhenDialled(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	lookups := 0
	p, client, log := setup(t, Config{
		Hosts:     []string{"acme.example:" + port(t, server), "127.0.0.1:" + port(t, server)},
		Endpoints: []string{"127.0.0.2:" + port(t, server)},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			lookups++
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1")}, nil
		},
	})
	p.public = func(ip netip.Addr) bool { return ip.Is4() && !ip.IsLoopback() }
	for _, host := range []string{"acme.example", "acme.example", "127.0.0.1"} {
		if status, text, err := get(client, "http://"+host+":"+port(t, server)); status != 403 || !strings.Contains(text, "no public address") {
			t.Errorf(`%s: %d %q %v, want status 403 and text with "no public address"`, host, status, text, err)
		}
	}
	if lookups != 2 {
		t.Errorf("%d lookups, want one a request", lookups)
	}
	// It is no answer that counts here: nothing listens there, and it was tried.
	if status, text, err := get(client, "http://127.0.0.2:"+port(t, server)); status == 403 || err != nil {
		t.Errorf("an endpoint: %d %q %v, want status other than 403 and no error", status, text, err)
	}
	if n := strings.Count(log.String(), "kept from a host"); n != 2 {
		t.Errorf("%d lines, want one a host: %s", n, log)
	}
}

func TestTrafficIsBounded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 1<<20))
	}))
	defer server.Close()
	p, client, log := setup(t, Config{Hosts: []string{"acme.example:" + port(t, server)}, Bytes: 300 << 10})
	address := "http://acme.example:" + port(t, server)
	if _, text, err := get(client, address); err == nil || len(text) > 300<<10 {
		t.Errorf("got %d bytes, %v, want an error after at most %d", len(text), err, 300<<10)
	}
	if status, text, err := get(client, address); status != 403 || !strings.Contains(text, "used up") {
		t.Errorf(`%d %.80q %v, want status 403 and text with "used up"`, status, text, err)
	}
	p.Close()
	if strings.Count(log.String(), "used its traffic up") != 1 {
		t.Errorf("got the log %v, want one line of the traffic that is used up", log)
	}
}

// tunnel is a connection through the proxy to a server that says nothing.
func tunnel(t *testing.T, p *Proxy, target string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	login := &http.Request{Header: http.Header{}}
	login.SetBasicAuth(user, p.token)
	request.Header.Set("Proxy-Authorization", login.Header.Get("Authorization"))
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("got %v, %v, want 200", response, err)
	}
	return conn, reader
}

func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

func TestSilentTunnelEnds(t *testing.T) {
	t.Parallel()
	target := silent(t)
	for name, config := range map[string]Config{
		"idle":  {Endpoints: []string{target}, Idle: time.Second},
		"total": {Endpoints: []string{target}, Total: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, _ := setup(t, config)
			conn, reader := tunnel(t, p, target)
			if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := reader.ReadByte(); err == nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
				t.Errorf("got %v, want the end of the tunnel within 2 min", err)
			}
		})
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func TestCloseEndsTunnels(t *testing.T) {
	t.Parallel()
	target := silent(t)
	p, _, _ := setup(t, Config{Endpoints: []string{target}})
	conn, reader := tunnel(t, p, target)
	p.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadByte(); err == nil || isTimeout(err) {
		t.Errorf("got %v, want the end of the tunnel within 2 min", err)
	}
}

func TestConnectionsAtOnce(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go func() {
				defer conn.Close()
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	target := listener.Addr().String()
	p, _, _ := setup(t, Config{Endpoints: []string{target}, Connections: 1})
	first, _ := tunnel(t, p, target)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tunnel(t, p, target)
	}()
	select {
	case <-done:
		t.Error("got a second connection beside the first, want it to wait")
	case <-time.After(100 * time.Millisecond):
	}
	_ = first.Close()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("got no second connection within 2 min after the first, want one")
	}
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	p, _, _ := setup(t, Config{Endpoints: []string{server.Listener.Addr().String()}})
	for _, word := range []string{"", "call:", "call:wrong", "root:" + p.token} {
		t.Run(fmt.Sprintf("%q is refused", word), func(t *testing.T) {
			address := &url.URL{Scheme: "http", Host: p.Address().String()}
			if name, password, ok := strings.Cut(word, ":"); ok {
				address.User = url.UserPassword(name, password)
			}
			client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), DisableKeepAlives: true}}
			if status, _, err := get(client, server.URL); status != http.StatusProxyAuthRequired {
				t.Errorf("%q: %d %v, want %v", word, status, err, http.StatusProxyAuthRequired)
			}
		})
	}
}

// TestRefusalsAreToldApart: a refusal of the proxy is marked, by which no host can mark its answer.
func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(Refused, "refused")
		http.Error(w, "egress: says the site", http.StatusForbidden)
	}))
	defer site.Close()
	_, client, _ := setup(t, Config{Endpoints: []string{strings.TrimPrefix(site.URL, "http://")}})
	for address, marked := range map[string]bool{site.URL: false, "http://elsewhere.example.com": true} {
		answer, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := answer.Header.Get(Refused) != ""; got != marked || answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d, marked: %t, want 403 and %t", address, answer.StatusCode, got, marked)
		}
	}
	transport, marked := client.Transport.(*http.Transport).Clone(), false
	transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
		marked = answer.Header.Get(Refused) != ""
		return nil
	}
	answer, err := (&http.Client{Transport: transport}).Get("https://elsewhere.example.com")
	if err == nil || !strings.Contains(err.Error(), "egress: the stage did not declare this host") || !marked {
		t.Errorf("through a tunnel: %v, %v, marked: %t, want the words of the proxy and its mark", answer, err, marked)
	}
}
