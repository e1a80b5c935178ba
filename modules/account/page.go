package account

import (
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
)

//go:embed page.html
var pageText string

// Page serves the links of mails about deletions. Reading it changes nothing, since mail
// scanners open links.
type Page struct {
	eraser *Eraser
	page   *page.Writer
	log    *slog.Logger
}

// NewPage returns the page. Mount it at LinkPath.
func NewPage(service *Service, log *slog.Logger) (*Page, error) {
	writer, err := page.New("deletion", pageText, log)
	if err != nil {
		return nil, err
	}
	return &Page{eraser: service.Eraser, page: writer, log: log}, nil
}

// content is what the page shows.
type content struct {
	Title, Detail, Mistake string
	// Erase and Keep show the buttons.
	Erase, Keep bool
}

// ServeHTTP shows the state of a deletion, and takes the form.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	shown, token, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, LinkPath), ".")
	account, ok := publicid.Parse(publicid.Account, shown)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		p.page.Write(w, r, http.StatusMethodNotAllowed, content{Title: "Open this page, or post its form"})
	case !ok || len(token) != secret.Length || !secret.Clean(token):
		p.fail(w, r, errLinkEnded)
	case r.Method == http.MethodPost:
		p.post(w, r, account, token)
	default:
		now, err := p.eraser.look(r.Context(), account, token)
		switch {
		case err != nil:
			p.fail(w, r, err)
		case now.action == confirmed:
			p.scheduled(w, r, now.eraseAt())
		default:
			p.page.Write(w, r, http.StatusOK, content{
				Title:  "Delete your account?",
				Detail: "Everything of " + shown + " is deleted 7 days after you confirm: keys, brief, rules, scrolls, videos, files, usage and credits. The subscription ends then, without a refund.",
				Erase:  true, Keep: true,
			})
		}
	}
}

func (p *Page) post(w http.ResponseWriter, r *http.Request, account int64, token string) {
	form, status, mistake := page.Form(w, r, "action")
	if status != 0 {
		p.page.Write(w, r, status, content{Title: "That did not work", Mistake: mistake})
		return
	}
	action := form.Get("action")
	if action != "erase" && action != "keep" {
		p.page.Write(w, r, http.StatusBadRequest, content{Title: "That did not work", Mistake: "Choose to delete the account or to keep it."})
		return
	}
	at, err := p.eraser.decide(r.Context(), account, token, action == "erase")
	switch {
	case err != nil:
		p.fail(w, r, err)
	case action == "erase":
		p.scheduled(w, r, at)
	default:
		p.page.Write(w, r, http.StatusOK, content{Title: "Your account stays", Detail: "Nothing is deleted."})
	}
}

func (p *Page) scheduled(w http.ResponseWriter, r *http.Request, at time.Time) {
	p.page.Write(w, r, http.StatusOK, content{
		Title:  "Your account will be deleted",
		Detail: "On " + at.UTC().Format("2 January 2006, 15:04") + " UTC. Until then you can call it off here.",
		Keep:   true,
	})
}

func (p *Page) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errLinkEnded) {
		p.page.Write(w, r, http.StatusNotFound, content{
			Title:  "This link has ended",
			Detail: "A link works for a day, and only the newest one. Ask for a new mail with POST /v1/account/erase.",
		})
		return
	}
	if errors.Is(err, errBegun) {
		p.page.Write(w, r, http.StatusConflict, content{Title: "The deletion has begun", Detail: "It cannot be called off any more."})
		return
	}
	p.log.ErrorContext(r.Context(), "serve the page of a deletion", "error", err)
	if errors.Is(err, apierr.ErrUnknown) {
		p.page.Write(w, r, http.StatusInternalServerError, content{
			Title: "It is not known whether that worked", Detail: "Open the link again in a minute: it shows what will be done.",
		})
		return
	}
	p.page.Write(w, r, http.StatusInternalServerError, content{Title: "That did not work", Detail: "Nothing has changed. Try again in a minute."})
}
