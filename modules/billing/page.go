package billing

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	htmlpage "github.com/scrollery/scrollery/modules/kernel/page"
)

//go:embed page.html
var pageText string

// page is what the checkout page shows.
type page struct {
	Title           string
	Plan, Price     string
	Period          string
	Email, Mistake  string
	Message, Detail string
	Form            bool
	Live            bool // money moves: no word of a test
	Claim           bool // the console may claim what was paid
}

func newPageWriter(log *slog.Logger) (*htmlpage.Writer, error) {
	return htmlpage.New("checkout", pageText, log)
}

// form is a valid post of the page.
type form struct {
	email string
	pay   bool
}

// readForm returns the post, or the status and message of its refusal. email
// is what was typed, to be shown again.
func readForm(w http.ResponseWriter, r *http.Request) (sent form, email string, status int, mistake string) {
	fields, status, mistake := htmlpage.Form(w, r, "email", "action")
	if status != 0 {
		return sent, "", status, mistake
	}
	email = strings.TrimSpace(one(fields, "email"))
	switch one(fields, "action") {
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
