// Package page renders the service's own HTML pages: a template, one style sheet and
// headers that forbid scripts, frames, other origins and caches.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

//go:embed page.css
var style string

// policy allows the style sheet, by its hash, and forms to the page's own origin.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// Writer renders one template. It is safe for concurrent use.
type Writer struct {
	template *template.Template
	log      *slog.Logger
}

// New parses the template of the pages that name describes ("checkout"). The template
// includes the style sheet by {{style}}.
func New(name, text string, log *slog.Logger) (*Writer, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{
		"style": func() template.HTML { return template.HTML("<style>" + style + "</style>") },
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse the %s page: %w", name, err)
	}
	return &Writer{template: parsed, log: log}, nil
}

// Write renders the content as the answer, without a body for HEAD. The answer is not
// stored anywhere, and its address is not passed on.
func (p *Writer) Write(w http.ResponseWriter, r *http.Request, status int, content any) {
	body, ok := p.render(w, r, content)
	if !ok {
		return
	}
	send(w, r, status, body)
}

// WriteForm is Write for a form whose answer leads to another origin, such as
// `https://example.com:8443`: browsers hold `form-action` against where a form ends up.
func (p *Writer) WriteForm(w http.ResponseWriter, r *http.Request, status int, content any, origin string) {
	body, ok := p.render(w, r, content)
	if !ok {
		return
	}
	if !strings.ContainsAny(origin, " ;,'\"\r\n") {
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' "+origin, 1))
	}
	send(w, r, status, body)
}

func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader may have left
	}
}

// Public renders content that is the same for everyone. A copy may be kept and asked
// for again by its ETag: 304 where it has not changed.
func (p *Writer) Public(w http.ResponseWriter, r *http.Request, content any) {
	body, ok := p.render(w, r, content)
	if !ok {
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// render sets the headers that every page has. It answers itself if the template fails.
func (p *Writer) render(w http.ResponseWriter, r *http.Request, content any) (body []byte, ok bool) {
	var text bytes.Buffer
	if err := p.template.Execute(&text, content); err != nil {
		p.log.ErrorContext(r.Context(), "render a page", "page", p.template.Name(), "error", err)
		http.Error(w, "The page could not be made. Try again later.", http.StatusInternalServerError)
		return nil, false
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	return text.Bytes(), true
}
