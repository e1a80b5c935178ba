package billing

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/mail"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// maxForm is far more than an address and an action need.
const maxForm = 16 << 10

// page is what the checkout page shows.
type page struct {
	Style           template.CSS
	Title           string
	Plan, Price     string
	Period          string
	Email, Mistake  string
	Message, Detail string
	Form            bool
	Live            bool // money moves: no word of a test
}

// pageWriter renders the page with headers that let it load nothing, be framed
// by no one and leak its address nowhere.
type pageWriter struct {
	template *template.Template
	policy   string
	log      *slog.Logger
}

func newPageWriter(log *slog.Logger) (*pageWriter, error) {
	parsed, err := template.New("checkout").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("parse the checkout page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	return &pageWriter{
		template: parsed,
		log:      log,
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}, nil
}

func (p *pageWriter) write(w http.ResponseWriter, r *http.Request, status int, content page) {
	content.Style = template.CSS(pageStyle)
	var body bytes.Buffer
	if err := p.template.Execute(&body, content); err != nil {
		p.log.ErrorContext(r.Context(), "render the checkout page", "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", p.policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body.Bytes()) // the reader may have left
	}
}

// form is a valid post of the page.
type form struct {
	email string
	pay   bool
}

// readForm returns the post, or the status and message of its refusal. email
// is what was typed, to be shown again.
func readForm(w http.ResponseWriter, r *http.Request) (sent form, email string, status int, mistake string) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return sent, "", http.StatusUnsupportedMediaType, "Send the form as application/x-www-form-urlencoded."
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if strings.Contains(err.Error(), "too large") {
			return sent, "", http.StatusRequestEntityTooLarge, "The form is too large."
		}
		return sent, "", http.StatusBadRequest, "The form cannot be read."
	}
	for name := range r.PostForm {
		if name != "email" && name != "action" {
			return sent, "", http.StatusBadRequest, "The form has a field that is not known."
		}
	}
	email = strings.TrimSpace(one(r.PostForm, "email"))
	switch one(r.PostForm, "action") {
	case "cancel":
		return form{}, email, 0, ""
	case "pay":
	default:
		return sent, email, http.StatusBadRequest, "Choose to pay or to cancel."
	}
	address, ok := mail.Address(email)
	if !ok {
		return sent, email, http.StatusBadRequest, "Enter one e-mail address, such as ana@example.com."
	}
	return form{email: address, pay: true}, email, 0, ""
}

// one returns a field that was sent exactly once, else nothing.
func one(fields url.Values, name string) string {
	if len(fields[name]) != 1 {
		return ""
	}
	return fields[name][0]
}
