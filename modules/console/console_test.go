package console_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/console"
)

// firstPage is the bound of what the first page transfers, in bytes.
const firstPage = 87_000

func assets() fs.FS {
	return fstest.MapFS{
		"index.html":        {Data: []byte("<!doctype html><title>Scrollery</title>")},
		"console.js":        {Data: []byte(strings.Repeat("render();", 500))},
		"console.css":       {Data: []byte("body{}")},
		"chunk-ABCD2345.js": {Data: []byte("export const a = 1;")},
		"chunk-abc.js":      {Data: []byte("export const b = 1;")},
		"messages.de.json":  {Data: []byte("{}")},
		"licenses.txt":      {Data: []byte("MIT")},
		"operator.html":     {Data: []byte("<!doctype html><title>Operator</title>")},
		"operator.js":       {Data: []byte("render();")},
	}
}

func open(t *testing.T, files fs.FS) (*console.Console, *console.Codes) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	codes := console.NewCodes(log)
	handler, err := console.New(files, codes, log)
	if err != nil {
		t.Fatal(err)
	}
	return handler, codes
}

func get(handler http.Handler, address string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, address, nil)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestFilesAndPages(t *testing.T) {
	t.Parallel()
	handler, _ := open(t, assets())
	for address, want := range map[string]struct {
		status int
		media  string
	}{
		"/console":                   {http.StatusMovedPermanently, "text/html; charset=utf-8"},
		"/console/":                  {http.StatusOK, "text/html; charset=utf-8"},
		"/console/scroll/scr_1":      {http.StatusOK, "text/html; charset=utf-8"},
		"/console/creators/a/b.c":    {http.StatusOK, "text/html; charset=utf-8"},
		"/console/console.js":        {http.StatusOK, "text/javascript; charset=utf-8"},
		"/console/console.css":       {http.StatusOK, "text/css; charset=utf-8"},
		"/console/licenses.txt":      {http.StatusOK, "text/plain; charset=utf-8"},
		"/console/chunk-ABCD2345.js": {http.StatusOK, "text/javascript; charset=utf-8"},
		"/console/chunk-ABCD2346.js": {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/chunk-abc.js":      {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/other.js":          {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/a/console.js":      {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/.inputs":           {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/../secret.key":     {http.StatusNotFound, "text/plain; charset=utf-8"},
		"/console/%2e%2e/app.css":    {http.StatusNotFound, "text/plain; charset=utf-8"},
	} {
		t.Run(address, func(t *testing.T) {
			answer := get(handler, address)
			if answer.Code != want.status || answer.Header().Get("Content-Type") != want.media {
				t.Errorf("got %d %q, want %d %q", answer.Code, answer.Header().Get("Content-Type"), want.status, want.media)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	handler, _ := open(t, assets())
	header := get(handler, "/console/").Header()
	got := map[string]string{}
	for _, name := range []string{"Content-Security-Policy", "Cache-Control", "Referrer-Policy", "X-Content-Type-Options", "Vary", "Set-Cookie"} {
		got[name] = header.Get(name)
	}
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-src https://www.youtube-nocookie.com https://www.tiktok.com https://www.instagram.com; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		"Cache-Control":           "no-cache", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding", "Set-Cookie": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	part := get(handler, "/console/chunk-ABCD2345.js").Header()
	if got, want := part.Get("Cache-Control"), "public, max-age=31536000, immutable"; got != want || part.Get("ETag") == "" {
		t.Errorf("a part: got Cache-Control %q and the ETag %q, want %q and one", got, part.Get("ETag"), want)
	}
	if got := get(handler, "/console/chunk-ABCD2346.js").Header().Get("Cache-Control"); strings.Contains(got, "immutable") {
		t.Errorf("a part that is not there: got Cache-Control %q, want it asked for again", got)
	}
}

func TestGzipAndETag(t *testing.T) {
	t.Parallel()
	handler, _ := open(t, assets())
	plain := get(handler, "/console/console.js", "Accept-Encoding", "br, gzip;q=0")
	if got := plain.Header().Get("Content-Encoding"); got != "" {
		t.Errorf("a client without gzip: got Content-Encoding %q, want none", got)
	}
	packed := get(handler, "/console/console.js", "Accept-Encoding", "br, gzip")
	reader, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil || string(body) != plain.Body.String() {
		t.Errorf("gzip: got %d bytes, error %v; want the %d of the plain answer", len(body), err, plain.Body.Len())
	}
	tag := packed.Header().Get("ETag")
	if tag == "" || tag == plain.Header().Get("ETag") {
		t.Errorf("got ETags %q and %q, want two", tag, plain.Header().Get("ETag"))
	}
	if again := get(handler, "/console/console.js", "Accept-Encoding", "gzip", "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("with its ETag: got %d with %d bytes, want 304 with 0", again.Code, again.Body.Len())
	}
	if other := get(handler, "/console/console.js", "Accept-Encoding", "gzip", "If-None-Match", `"other"`); other.Code != http.StatusOK {
		t.Errorf("with another ETag: got %d, want 200", other.Code)
	}
}

func TestOnlyRead(t *testing.T) {
	t.Parallel()
	handler, _ := open(t, assets())
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/console/", nil))
	if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("got %d, Allow %q; want 405, Allow GET, HEAD", answer.Code, answer.Header().Get("Allow"))
	}
}

func TestABinaryWithoutTheConsoleSaysSo(t *testing.T) {
	t.Parallel()
	handler, _ := open(t, nil)
	if handler.Present() {
		t.Error("got a console that is present, want it absent without assets")
	}
	answer := get(handler, "/console/")
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "make build") {
		t.Errorf("got %d %q, want 200 with how to build it", answer.Code, answer.Body.String())
	}
}

// TestTransferOfTheFirstPage measures the bundle that `make build` left here.
func TestTransferOfTheFirstPage(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("dist/console.js"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("got no bundle: %v; want the one of make build, which runs first", err)
		}
		t.Skip("the console was not built")
	}
	handler, _ := open(t, os.DirFS("dist"))
	sum := 0
	// What the document preloads is what the first script imports: nothing is left for a second turn.
	document := get(handler, console.Path).Body.String()
	names := []string{"", "console.js", "console.css"}
	for _, found := range regexp.MustCompile(`rel="modulepreload" href="/console/([^"]+)"`).FindAllStringSubmatch(document, -1) {
		names = append(names, found[1])
	}
	for _, name := range names {
		script := get(handler, console.Path+name).Body.String()
		for _, imported := range regexp.MustCompile(`\b(?:from|import)"\./([^"]+)"`).FindAllStringSubmatch(script, -1) {
			if !slices.Contains(names, imported[1]) {
				t.Errorf("%s imports %s, want the document to preload it", name, imported[1])
			}
		}
		sum += get(handler, console.Path+name, "Accept-Encoding", "gzip").Body.Len()
	}
	if len(names) < 4 {
		t.Errorf("got the files %q, want the shared part among them", names)
	}
	t.Logf("the first page transfers %d bytes", sum)
	if sum > firstPage {
		t.Errorf("got %d bytes for the first page, want at most %d", sum, firstPage)
	}
}
