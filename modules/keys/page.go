package keys

import (
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/secret"
)

//go:embed page.html
var pageText string

// RecoveryPage serves the links of recovery mails. Reading it changes nothing, since
// mail scanners open links; its form replaces the keys.
type RecoveryPage struct {
	service *Service
	page    *page.Writer
	log     *slog.Logger
}

// NewRecoveryPage returns the page. Mount it at LinkPath.
func NewRecoveryPage(service *Service, log *slog.Logger) (*RecoveryPage, error) {
	writer, err := page.New("recovery", pageText, log)
	if err != nil {
		return nil, err
	}
	return &RecoveryPage{service: service, page: writer, log: log}, nil
}

// content is what the page shows.
type content struct {
	Title, Detail, Mistake string
	Accounts               []choice
	Keys                   []newKeyOf
}

// choice is an account with its checkbox.
type choice struct {
	ID, Opened, Keys string
	Active, Chosen   bool
}

// ServeHTTP shows the accounts that a link serves, and takes the form.
func (p *RecoveryPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.URL.Path, LinkPath)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		p.page.Write(w, r, http.StatusMethodNotAllowed, content{Title: "Open this page, or post its form"})
	case len(token) != secret.Length || !secret.Clean(token):
		p.ended(w, r)
	case r.Method == http.MethodPost:
		p.post(w, r, token)
	default:
		p.show(w, r, token, http.StatusOK, nil, "")
	}
}

// show lists the accounts. The first one is chosen unless chosen names others.
func (p *RecoveryPage) show(w http.ResponseWriter, r *http.Request, token string, status int, chosen []string, mistake string) {
	accounts, err := p.service.Codes.linkedBy(r.Context(), token)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	shown := content{
		Title: "Replace lost API keys", Mistake: mistake,
		Detail: "Choose the accounts that get a new key. All their other keys end at once.",
	}
	for i, account := range accounts {
		shown.Accounts = append(shown.Accounts, choice{
			ID: account.ID, Active: account.Active, Opened: account.OpenedAt.UTC().Format("2 January 2006"),
			Keys: strings.Join(account.Hints, ", "), Chosen: chosen == nil && i == 0 || slices.Contains(chosen, account.ID),
		})
	}
	p.page.Write(w, r, status, shown)
}

func (p *RecoveryPage) post(w http.ResponseWriter, r *http.Request, token string) {
	form, status, mistake := page.Form(w, r, "account")
	if status != 0 {
		p.show(w, r, token, status, nil, mistake)
		return
	}
	chosen := slices.Compact(slices.Sorted(slices.Values(form["account"])))
	if len(chosen) == 0 {
		p.show(w, r, token, http.StatusBadRequest, []string{}, "Choose at least one account.")
		return
	}
	keys, err := p.service.Codes.redeem(r.Context(), token, chosen)
	switch {
	case errors.Is(err, errNotLinked):
		p.show(w, r, token, http.StatusBadRequest, chosen, "This link does not serve one of those accounts. Choose from the list.")
	case err != nil:
		p.fail(w, r, err)
	default:
		p.page.Write(w, r, http.StatusOK, content{
			Title: "Your new keys", Keys: keys,
			Detail: "Copy them now: they are not shown again. Every older key of these accounts has ended.",
		})
	}
}

func (p *RecoveryPage) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errLinkEnded) {
		p.ended(w, r)
		return
	}
	p.log.ErrorContext(r.Context(), "serve the recovery page", "error", err)
	if errors.Is(err, apierr.ErrUnknown) { // the keys may be replaced
		p.page.Write(w, r, http.StatusInternalServerError, content{
			Title:  "It is not known whether that worked",
			Detail: "Open the link again in a minute. If it has ended, your keys were replaced: ask for a new mail with POST /v1/api_keys/recover.",
		})
		return
	}
	p.page.Write(w, r, http.StatusInternalServerError, content{Title: "That did not work", Detail: "Nothing has changed. Try again in a minute."})
}

func (p *RecoveryPage) ended(w http.ResponseWriter, r *http.Request) {
	p.page.Write(w, r, http.StatusNotFound, content{
		Title:  "This link has ended",
		Detail: "A link works once and for a short time. Ask for a new mail with POST /v1/api_keys/recover.",
	})
}
