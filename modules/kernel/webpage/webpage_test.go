package webpage

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/scrollery/scrollery/plugins/stage"
)

// site serves handler under every name, over TLS.
func site(t *testing.T, handler http.HandlerFunc) Config {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	cfg := Defaults()
	cfg.Transport = &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
	return cfg
}

func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

func TestWordsOfAPage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ html, title, text string }{
		"what it says of itself": {
			html: `<html><head><title> Beans &amp; Co
				</title><meta name=description content="Espresso at home."><meta name="keywords" content="espresso, grinder">
				<meta property="og:description" content="Espresso at home."><style>b{}</style></head>
				<body><nav>Cart Login</nav><h1>Fresh <b>beans</b></h1><p>Long text</p><h2>Grinders</h2><script>h1</script></body></html>`,
			title: "Beans & Co", text: "Espresso at home.\nespresso, grinder\nFresh beans Grinders",
		},
		"only a body":     {html: `<p>We roast<br>coffee.</p><script>var x = "<p>no</p>"</script><noscript>no</noscript>`, text: "We roast coffee."},
		"cut off":         {html: `<title>Half a pa`, title: "Half a pa"},
		"not UTF-8":       {html: "<title>Caf\xe9</title>", title: "Caf�"},
		"nothing at all":  {html: ``},
		"broken elements": {html: `<h1>One</h2><h1>Two</h1></p></body><<<>`, text: "One Two"},
		"long":            {html: "<title>" + strings.Repeat("é", 500) + "</title>", title: strings.Repeat("é", 200)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := New(site(t, page(c.html))).Read(t.Context(), "https://beans.coffee/?utm_source=x")
			want := stage.Page{URL: "https://beans.coffee", Title: c.title, Text: c.text}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherEncodings(t *testing.T) {
	t.Parallel()
	cfg := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, "<title>Caf\xe9</title>")
		_ = zip.Close()
	})
	got, err := New(cfg).Read(t.Context(), "https://cafe.coffee")
	if err != nil {
		t.Fatal(err)
	}
	if want := "Café"; got.Title != want {
		t.Errorf("title %q, want %q", got.Title, want)
	}
}

func TestAppsAreLookedUp(t *testing.T) {
	t.Parallel()
	cfg := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Query().Get("id") {
		case "itunes.apple.com123":
			_, _ = io.WriteString(w, `{"resultCount":1,"results":[{"trackName":"Brew","description":"Time\nyour espresso.","genres":["Food & Drink","Lifestyle"]}]}`)
		case "itunes.apple.com7":
			_, _ = io.WriteString(w, `{"resultCount":`)
		default:
			_, _ = io.WriteString(w, `{"resultCount":0,"results":[]}`)
		}
	})
	reader := New(cfg)
	got, err := reader.Read(t.Context(), "https://apps.apple.com/us/app/brew/id123")
	want := stage.Page{URL: "https://apps.apple.com/us/app/brew/id123", Title: "Brew", Text: "Food & Drink, Lifestyle\nTime your espresso."}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page of the app (-want +got):\n%s", diff)
	}
	if _, err := reader.Read(t.Context(), "https://apps.apple.com/app/id9"); !errors.Is(err, ErrNoApp) {
		t.Errorf("unknown app: %v, want %v", err, ErrNoApp)
	}
	if _, err := reader.Read(t.Context(), "https://apps.apple.com/app/id7"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf(`broken answer: %v, want an error and text with "cannot be read"`, err)
	}
}

func TestRedirectsStayAtTheHost(t *testing.T) {
	t.Parallel()
	cfg := site(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		page("<title>"+r.Host+r.URL.Path+"</title>")(w, r)
	})
	reader := New(cfg)
	for to, want := range map[string]string{
		"/en/":                          "beans.coffee/en/",
		"https://www.beans.coffee/shop": "www.beans.coffee/shop",
		"https://beans.coffee/?to=/b":   "beans.coffee/b",
	} {
		t.Run(to, func(t *testing.T) {
			got, err := reader.Read(t.Context(), "https://beans.coffee/?to="+to)
			if err != nil {
				t.Fatal(err)
			}
			if got.Title != want {
				t.Errorf("title %q, want %q", got.Title, want)
			}
		})
	}
	for _, to := range []string{
		"https://other.coffee/", "https://beans.coffee.other.com/", "http://beans.coffee/", "https://beans.coffee:8443/",
		"https://u:p@beans.coffee/", "https://127.0.0.1/", "file:///etc/passwd", "https://shop.beans.coffee/",
	} {
		t.Run("to "+to, func(t *testing.T) {
			if _, err := reader.Read(t.Context(), "https://beans.coffee/?to="+to); !errors.Is(err, ErrElsewhere) {
				t.Errorf("to %s, want %v: %v", to, ErrElsewhere, err)
			}
		})
	}
	if _, err := reader.Read(t.Context(), "https://beans.coffee/?to=%3Fto%3D%253Fto%253D"); err != nil {
		t.Errorf("two redirects: %v", err)
	}
	loop := New(site(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }))
	if _, err := loop.Read(t.Context(), "https://beans.coffee"); !errors.Is(err, ErrTooMany) {
		t.Errorf("loop: %v, want %v", err, ErrTooMany)
	}
}

func TestWhatIsNoPageIsNotRead(t *testing.T) {
	t.Parallel()
	cfg := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/drip":
			w.Header().Set("Content-Type", "text/html")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "<p>")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
	cfg.Timeout = 300 * time.Millisecond
	reader := New(cfg)
	for path, want := range map[string]string{"pdf": ErrNoPage.Error(), "gone": "410", "drip": "deadline"} {
		t.Run(path, func(t *testing.T) {
			began := time.Now()
			_, err := reader.Read(t.Context(), "https://beans.coffee/"+path)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v, want at most 5s", took)
			}
		})
	}
	for _, text := range []string{"http://beans.coffee", "https://localhost", "https://10.0.0.1", "https://169.254.169.254/latest", "", "file:///etc/passwd"} {
		t.Run(fmt.Sprintf("%q is refused", text), func(t *testing.T) {
			if _, err := reader.Read(t.Context(), text); err == nil {
				t.Errorf("%q is read, want an error", text)
			}
		})
	}
}

// TestManyDescriptionsTakeLinearTime: each is looked for in those before it. Other processes
// add nothing to its processor time.
func TestManyDescriptionsTakeLinearTime(t *testing.T) {
	const meta = `<meta name=description content="%s">`
	long := fmt.Sprintf(meta, strings.Repeat("ab", 120_000))
	text := long + strings.Repeat(fmt.Sprintf(meta, "aba ba"), 50_000)
	began := used(t)
	var w words
	if err := w.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if took := used(t) - began; took > time.Second { // 3.5 s where it is not
		t.Errorf("%d bytes took %v, want at most a second", len(text), took)
	}
	if got := w.description.text.Len(); got > 4*maxText+4 {
		t.Errorf("got a description of %d bytes, want at most %d", got, 4*maxText+4)
	}
}

// used is the processor time of this process. Where it is asked, tests take turns.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestBombs: what a page unpacks to is bounded too.
func TestBombs(t *testing.T) {
	t.Parallel()
	cfg := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		for range 64 {
			if _, err := io.WriteString(zip, "<h1>"+strings.Repeat("a ", 1<<19)+"</h1>"); err != nil {
				return
			}
		}
	})
	cfg.MaxBytes = 1 << 20
	began := time.Now()
	got, err := New(cfg).Read(t.Context(), "https://beans.coffee")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Text) > maxText {
		t.Errorf("%d bytes of text, want at most %d", len(got.Text), maxText)
	}
	if took := time.Since(began); took > cfg.Timeout {
		t.Errorf("it took %v, want at most %v", took, cfg.Timeout)
	}
}

// TestNamesLeadNowherePrivate: the address is checked after the name was resolved.
func TestNamesLeadNowherePrivate(t *testing.T) {
	t.Parallel()
	asked := 0
	reached := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer reached.Close()
	names := nameServer(t, [4]byte{127, 0, 0, 1})
	transport := public()
	dialer := guarded()
	dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", names)
	}}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(reached.Listener.Addr().String())
		host, _, _ := net.SplitHostPort(address)
		return dialer.DialContext(ctx, network, net.JoinHostPort(host, port))
	}
	cfg := Defaults()
	cfg.Transport = transport
	_, err := New(cfg).Read(t.Context(), "https://rebind.beans.coffee")
	if want := "not a public address"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if asked > 0 {
		t.Errorf("the private server got %d requests, want 0", asked)
	}
}

// nameServer answers every name with one address.
func nameServer(t *testing.T, ip [4]byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(buf[:n]) != nil || len(query.Questions) == 0 {
				continue
			}
			query.Response, query.Additionals = true, nil
			if query.Questions[0].Type == dnsmessage.TypeA {
				query.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: query.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: ip},
				}}
			}
			if raw, err := query.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func FuzzWords(f *testing.F) {
	f.Add(`<title>a</title><meta name=description content="b"><h1>c`)
	f.Fuzz(func(t *testing.T, text string) {
		var w words
		if err := w.read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		title, said := w.result()
		if len([]rune(title)) > maxTitle || len([]rune(said)) > maxText {
			t.Errorf("beyond the bounds %v, want length at most %v and length at most %v", fmt.Sprint(len(title), len(said)), maxTitle, maxText)
		}
	})
}
