package archive

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aead.dev/minisign"
)

// site answers at https://example.com, which leads to this machine.
func site(t *testing.T, serve http.HandlerFunc) Fetcher {
	t.Helper()
	server := httptest.NewTLSServer(serve)
	t.Cleanup(server.Close)
	through := server.Client().Transport.(*http.Transport).Clone()
	through.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return Fetcher{Transport: through}
}

// unpackFrom unpacks an archive into a folder of its own.
func unpackFrom(t *testing.T, fetch Fetcher, from string, key *minisign.PublicKey) (Plugin, string, error) {
	t.Helper()
	dir := t.TempDir()
	folder, err := Enter(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, signed, err := folder.Unpack(t.Context(), fetch, from, key)
	folder.Leave()
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("%q is left, want nothing", left)
	}
	return p, signed, err
}

func TestFetch(t *testing.T) {
	t.Parallel()
	archive := forge().write(t)
	var hops atomic.Int64
	fetch := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/acme.tar.gz":
			http.ServeFile(w, r, archive)
		case "/moved/5", "/moved/6":
			hops.Store(int64(r.URL.Path[len(r.URL.Path)-1]-'0') - 1) // this is one
			http.Redirect(w, r, "/hop", http.StatusFound)
		case "/hop":
			if hops.Add(-1) == 0 {
				http.Redirect(w, r, "/acme.tar.gz", http.StatusFound)
				return
			}
			http.Redirect(w, r, "/hop", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://example.com/acme.tar.gz", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "https://169.254.169.254/latest", http.StatusFound)
		case "/endless":
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, strings.Repeat("x", 1<<20))
			}
		default:
			http.NotFound(w, r)
		}
	})
	for _, c := range []struct{ path, want string }{
		{"acme.tar.gz", ""},
		{"moved/5", ""},
		{"moved/6", "more than 5 redirects"},
		{"plain", "must begin with https://"},
		{"inside", "must lead to the public internet"},
		{"endless", "has more than 268435456 bytes"},
		{"none", "https://example.com/none answers with status 404"},
	} { // one after the other, for hops
		p, _, err := unpackFrom(t, fetch, "https://example.com/"+c.path, nil)
		switch {
		case c.want == "" && (err != nil || p.ID != "acme"):
			t.Errorf("%s: got %q, %v, want acme", c.path, p.ID, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error with %q", c.path, err, c.want)
		}
	}
}

// TestOnlyPublicAddresses are fetched from, whatever a name leads to.
func TestOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, from := range []string{
		"http://example.com/acme.tar.gz", "file:///etc/passwd", "ftp://example.com/x", "https://127.0.0.1:" + port, "https://localhost:" + port,
		"https://[::1]:" + port, "https://user:secret@example.com/x", "https://0x7f.1:" + port, "https://printer.local/x",
	} {
		if _, _, err := unpackFrom(t, Fetcher{}, from, nil); err == nil || !strings.Contains(err.Error(), "the address") {
			t.Errorf("%s: got %v, want it refused", from, err)
		}
	}
	// A name that is public by its text, and leads to this machine.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := (Fetcher{}).client().Do(request); err == nil || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf("got %v, %v, want the connection refused", answer, err)
	}
	if asked.Load() {
		t.Error("this machine was asked, want no request")
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plain, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plain.key"), string(plain))
	sign, err := Signer(filepath.Join(dir, "plain.key"), func() (string, error) { return "", errors.New("asked for a password") })
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "acme.tar.gz")
	if _, _, err := Write(t.Context(), Order{Manifest: plugin(t, "0.1.0"), Out: out, Sign: sign}); err != nil {
		t.Fatal(err)
	}
	archive, signature := read(t, out), read(t, out+SignatureEnding)
	if !minisign.Verify(public, []byte(archive), []byte(signature)) {
		t.Error("minisign does not verify the signature, want that it does")
	}
	if p, signed, err := unpackFrom(t, Fetcher{}, out, &public); err != nil || p.ID != "acme" || !strings.HasPrefix(signed, "plugin acme 0.1.0 for ") {
		t.Errorf("got %q, %q, %v, want acme with its signed comment", p.ID, signed, err)
	}
	fetch := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
	})
	if p, _, err := unpackFrom(t, fetch, "https://example.com/acme.tar.gz?download=1", &public); err != nil || p.ID != "acme" {
		t.Errorf("from an address: got %q, %v, want acme", p.ID, err)
	}
	for name, c := range map[string]struct {
		archive, signature string
		key                minisign.PublicKey
		want               string
	}{
		"another key":        {archive, signature, other, "the signature is of the key"},
		"a changed byte":     {archive[:len(archive)/2] + "x" + archive[len(archive)/2+1:], signature, public, "is not what was signed"},
		"another comment":    {archive, strings.Replace(signature, "acme 0.1.0", "acme 9.9.9", 1), public, "is not what was signed"},
		"no signature":       {archive, "", public, "the archive is not signed"},
		"something else":     {archive, "hello", public, "none of minisign"},
		"a too large one":    {archive, strings.Repeat("x", 20_000), public, "too large"},
		"of the old form":    {archive, old(private, archive), public, "minisign's old form"},
		"of another archive": {string(forgedBytes(t)), signature, public, "is not what was signed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "acme.tar.gz")
			write(t, path, c.archive)
			if c.signature != "" {
				write(t, path+SignatureEnding, c.signature)
			}
			if _, _, err := unpackFrom(t, Fetcher{}, path, &c.key); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	// An archive that is written again without a key has no signature of the one before.
	if _, _, err := Write(t.Context(), Order{Manifest: plugin(t, "0.1.0"), Out: out}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out + SignatureEnding); err == nil {
		t.Error("the old signature is there, want it gone")
	}
}

func old(key minisign.PrivateKey, archive string) string {
	return string(minisign.Sign(key, []byte(archive)))
}

func forgedBytes(t *testing.T) []byte {
	t.Helper()
	return []byte(read(t, forge().write(t)))
}

// sealed is a private key of no one, whose password costs less than the gigabyte of memory that
// minisign asks for.
const sealed = "untrusted comment: minisign encrypted secret key\n" +
	"RWRTY0Iyv0IeJObI18Cd+IAjlbFn3w26gFy0/zDRKspHmLBW/o8AgAAAAAAAAAAAAAEAAAAAcikaEZhtqlHX+C3Fiks4FmKkvJa6DyZVR8HocFdXMAenh8+AKKHVKiRWw0fIfLTK3PNZCcsjJpnoxJpDRaB9UV5s6M3qxZORl9Yo9GL2G2Xe0K0+3pdfYvfU9x3EMWMPyDFRLt5UG7o="

func TestKeys(t *testing.T) {
	t.Parallel()
	public, _, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sealed.key"), sealed)
	text, _ := public.MarshalText()
	write(t, filepath.Join(dir, "acme.pub"), string(text)+"\n")
	for _, from := range []string{public.String(), filepath.Join(dir, "acme.pub")} {
		if got, err := PublicKey(from); err != nil || !got.Equal(public) {
			t.Errorf("%s: got %v, %v, want the key", from, got, err)
		}
	}
	for from, want := range map[string]string{
		"RWnothing": "neither a public key", filepath.Join(dir, "sealed.key"): "no public key",
	} {
		if _, err := PublicKey(from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", from, err, want)
		}
	}
	with := func(password string) func() (string, error) { return func() (string, error) { return password, nil } }
	if _, err := Signer(filepath.Join(dir, "sealed.key"), with("a password")); err != nil {
		t.Errorf("the right password: %v, want no error", err)
	}
	_, err = Signer(filepath.Join(dir, "sealed.key"), with("another one"))
	if err == nil || !strings.Contains(err.Error(), "the password is wrong") || strings.Contains(err.Error(), "another one") {
		t.Errorf("got %v, want a wrong password said, and not shown", err)
	}
	if _, err := Signer(filepath.Join(dir, "acme.pub"), with("")); err == nil || !strings.Contains(err.Error(), "no private key") {
		t.Errorf("got %v, want a public key refused", err)
	}
}
