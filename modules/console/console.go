// Package console serves the page in which people use the API: one document, one script
// and one style sheet. It has no data of its own; the page is a client of the same API as
// every other.
package console

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/page"
)

// Path is where the console is served. The addresses of its pages are below it: they
// all answer the same document, and its script shows what they name.
const Path = "/console/"

// Policy is the console's Content-Security-Policy: its own script and style sheet, its own
// origin, frames of the platforms' players alone, and no way to turn text into markup.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
	"frame-src https://www.youtube-nocookie.com https://www.tiktok.com https://www.instagram.com; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const (
	document         = "index.html"
	operatorDocument = "operator.html"
	// creators is where the pages of creators are; a handle may have a dot.
	creators = "creators/"
)

// types are the files of the console and their media types. Beside them, only parts are served.
var types = map[string]string{
	document:      "text/html; charset=utf-8",
	"console.js":  "text/javascript; charset=utf-8",
	"console.css": "text/css; charset=utf-8",
	// The texts of other languages than the one in the script.
	"messages.de.json": "application/json",
	"licenses.txt":     "text/plain; charset=utf-8",
	// The page of the operator, which the operations port serves.
	operatorDocument: "text/html; charset=utf-8",
	"operator.js":    "text/javascript; charset=utf-8",
}

// part is the name of a script that the first one loads. It has the hash of its content, so a
// browser never asks for it twice, and a page of an earlier version never gets another one's.
var part = regexp.MustCompile(`^[a-z]+-[A-Z0-9]{8}\.js$`)

//go:embed absent.html
var absent string

// Owns reports whether the console answers this path.
func Owns(path string) bool { return path == "/console" || strings.HasPrefix(path, Path) }

// Console is the handler of everything below Path.
type Console struct {
	files  map[string]file
	absent *page.Writer
	codes  *Codes
}

// file is one asset as it is sent.
type file struct {
	page.Fixed
	media string
	// cache is its Cache-Control.
	cache string
}

// Assets are the files of the console, as they are or, with the ending packed, compressed with
// gzip; nil if they were not built.
type Assets fs.FS

const packed = ".gz"

// New returns the console of the assets. Without assets it serves a page that says so.
func New(assets Assets, codes *Codes, log *slog.Logger) (*Console, error) {
	writer, err := page.New("console", absent, log)
	if err != nil {
		return nil, err
	}
	c := &Console{absent: writer, codes: codes}
	if assets == nil {
		return c, nil
	}
	c.files = map[string]file{}
	for name, media := range types {
		if c.files[name], err = load(assets, name, media); err != nil {
			return nil, err
		}
	}
	return c, c.loadParts(assets)
}

// loadParts reads the scripts that the first one loads. Their names are the bundler's.
func (c *Console) loadParts(assets fs.FS) error {
	entries, err := fs.ReadDir(assets, ".")
	if err != nil {
		return fmt.Errorf("list the console: %w", err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), packed)
		if !part.MatchString(name) {
			continue
		}
		found, err := load(assets, name, types["console.js"])
		if err != nil {
			return err
		}
		found.cache = "public, max-age=31536000, immutable"
		c.files[name] = found
	}
	return nil
}

func load(assets fs.FS, name, media string) (file, error) {
	body, err := fs.ReadFile(assets, name+packed)
	if err == nil {
		fixed, err := page.Packed(body)
		return file{fixed, media, "no-cache"}, err
	}
	if body, err = fs.ReadFile(assets, name); err != nil {
		return file{}, fmt.Errorf("read the console: %w", err)
	}
	return file{page.NewFixed(body), media, "no-cache"}, nil
}

// AgentPage is a page that agents' programs show, unpacked when it is first asked for.
func AgentPage(assets Assets, name string) (html func() string, err error) {
	found, err := load(assets, "app-"+name+".html", "")
	return sync.OnceValue(func() string { return string(found.Plain()) }), err
}

// Present reports whether this binary has the console.
func (c *Console) Present() bool { return c.files != nil }

// ServeHTTP answers GET and HEAD, and the exchange of one-time codes.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == ExchangePath {
		c.codes.ServeHTTP(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "The console is only read.", http.StatusMethodNotAllowed)
		return
	}
	if !c.Present() {
		c.absent.Write(w, r, http.StatusOK, nil)
		return
	}
	name, below := strings.CutPrefix(r.URL.Path, Path)
	if !below {
		http.Redirect(w, r, Path, http.StatusMovedPermanently)
		return
	}
	found, ok := c.files[name]
	if !ok || strings.HasPrefix(name, "operator.") {
		if path.Ext(name) != "" && !strings.HasPrefix(name, creators) { // the addresses of other pages have no extension
			http.NotFound(w, r)
			return
		}
		found = c.files[document]
	}
	found.serve(w, r)
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.media)
	header.Set("Content-Security-Policy", Policy)
	header.Set("Cache-Control", f.cache)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")
	body, tag, encoding := f.For(r)
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
