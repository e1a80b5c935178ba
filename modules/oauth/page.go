package oauth

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

//go:embed page.html
var pageText string

// content is what the page shows: one of its forms, or a message alone.
type content struct {
	Title, Detail, Mistake string
	// Host is that of the client, and Back where the person is sent afterwards.
	Host, Back string
	// Loopback: the client is a program on the person's machine, and may be any.
	Loopback bool
	// Hidden are the parameters that the form with the address carries on.
	Hidden []field
	Email  string
	// Ticket continues an authorization.
	Ticket   string
	AskCode  bool
	Accounts []choice
	Reads    []string
	Writes   []permission
	// Return leads back to the client with an error; empty if there is none.
	Return string
}

type field struct{ Name, Value string }

type choice struct {
	ID, Opened     string
	Active, Chosen bool
}

type permission struct{ Scope, Means string }

// meanings say what a scope allows, for people.
var meanings = map[string]string{
	"workspace:read": "read your brief", "rules:read": "read your rules", "scrolls:read": "read your scrolls",
	"library:read": "read your library, outliers, hooks and trends", "usage:read": "read your usage", "account:read": "read what has changed",
	"workspace:write": "change your brief", "rules:write": "change your rules", "scrolls:write": "start and cancel scrolls, which cost units",
	"library:write": "annotate and archive videos", "agent:run": "draft briefs, which cost credits",
}

func isRead(scope string) bool { return strings.HasSuffix(scope, ":read") }

// serveAuthorize shows the page and takes its forms. A form continues by a secret that
// only its page has, so that a browser's state decides nothing.
func (s *Service) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		s.stop(w, r, http.StatusMethodNotAllowed, "Open this page, or post its form.")
	case r.Method == http.MethodPost && s.origin.Check(r) != nil:
		s.stop(w, r, http.StatusForbidden, "The form came from a page of another origin.")
	case r.Method == http.MethodPost:
		s.post(w, r)
	case len(r.URL.RawQuery) > 8<<10:
		s.stop(w, r, http.StatusRequestURITooLong, "The address is too long.")
	case s.slow(w, r, "oauth.authorize", pagesAMinute):
	default:
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			s.stop(w, r, http.StatusBadRequest, "The address cannot be read.")
			return
		}
		if q, ok := s.request(w, r, values); ok {
			s.page.Write(w, r, http.StatusOK, q.askEmail(values, "", ""))
		}
	}
}

// slow refuses a request of a client address that has had its quota of the minute.
func (s *Service) slow(w http.ResponseWriter, r *http.Request, name string, quota int) bool {
	wait := s.needs.Protocols.Spend(r, name, quota)
	if wait > 0 {
		w.Header().Set("Retry-After", wholeSeconds(wait))
		s.stop(w, r, http.StatusTooManyRequests, "Too many requests came from your network. Try again in "+wholeSeconds(wait)+" seconds.")
	}
	return wait > 0
}

// stop shows a message alone.
func (s *Service) stop(w http.ResponseWriter, r *http.Request, status int, why string) {
	s.page.Write(w, r, status, content{Title: "This program cannot be connected", Detail: why})
}

// ended is the answer to a form of no authorization, or of a step that is over.
func (s *Service) ended(w http.ResponseWriter, r *http.Request) {
	s.stop(w, r, http.StatusNotFound, "This page has ended, or was used already. Begin again in the program.")
}

// request reads an authorization request. Otherwise it answers itself: a person is never sent to
// an address that the client's document does not have, and never without their doing.
func (s *Service) request(w http.ResponseWriter, r *http.Request, values url.Values) (q request, ok bool) {
	given, why := single(values)
	if why != "" {
		s.stop(w, r, http.StatusBadRequest, why)
		return request{}, false
	}
	host, err := checkClientID(given["client_id"])
	if err != nil {
		s.stop(w, r, http.StatusBadRequest, err.Error()+".")
		return request{}, false
	}
	known, err := s.clients.find(r.Context(), given["client_id"])
	switch {
	case errors.Is(err, errFetchBusy):
		w.Header().Set("Retry-After", "60")
		s.stop(w, r, http.StatusServiceUnavailable, err.Error()+".")
		return request{}, false
	case err != nil:
		s.stop(w, r, http.StatusBadRequest, host+": "+err.Error()+".")
		return request{}, false
	case !known.allows(given["redirect_uri"]):
		s.stop(w, r, http.StatusBadRequest, "redirect_uri is none of those in the metadata document of "+host+", or is neither https nor an address of this machine.")
		return request{}, false
	}
	q = request{clientID: given["client_id"], redirectURI: given["redirect_uri"], state: given["state"], host: host}
	_, q.back, q.loopback = target(q.redirectURI)
	if wrong := s.judge(&q, given); wrong != nil {
		s.page.Write(w, r, http.StatusBadRequest, content{
			Title: "This program cannot be connected", Detail: "The program's request is wrong: " + wrong.why, Host: q.host, Back: q.back,
			Return: s.answerTo(q.redirectURI, q.state, map[string]string{"error": wrong.code, "error_description": wrong.why}),
		})
		return request{}, false
	}
	return q, true
}

// askEmail is the first form.
func (q request) askEmail(values url.Values, email, mistake string) content {
	shown := content{
		Title: "Connect " + q.host, Host: q.host, Back: q.back, Loopback: q.loopback, Email: email, Mistake: mistake,
	}
	for _, name := range params {
		if given := values.Get(name); given != "" {
			shown.Hidden = append(shown.Hidden, field{name, given})
		}
	}
	return shown
}

// post takes a form of any step.
func (s *Service) post(w http.ResponseWriter, r *http.Request) {
	form, status, mistake := page.Form(w, r, append([]string{"email", "ticket", "code", "account", "allow", "answer"}, params...)...)
	ticket := form.Get("ticket")
	switch {
	case status != 0:
		s.stop(w, r, status, mistake)
	case !form.Has("ticket"):
		s.postEmail(w, r, form)
	case len(ticket) != secret.Length || !secret.Clean(ticket):
		s.ended(w, r)
	case form.Has("code"):
		s.postCode(w, r, ticket, strings.ReplaceAll(strings.TrimSpace(form.Get("code")), " ", ""))
	default:
		s.postConsent(w, r, ticket, form)
	}
}

// postEmail has a code mailed, and goes on to ask for it. Nothing depends on whether the
// address is known.
func (s *Service) postEmail(w http.ResponseWriter, r *http.Request, form url.Values) {
	if s.slow(w, r, "recover", mailsAMinute) {
		return
	}
	q, ok := s.request(w, r, form)
	if !ok {
		return
	}
	address, isAddress := mail.Address(form.Get("email"))
	if !isAddress {
		s.page.Write(w, r, http.StatusBadRequest, q.askEmail(form, "", "Type the mail address of your account."))
		return
	}
	ticket := secret.New()
	err := s.db.Write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := s.rows.add(ctx, tx, ticket, address, q, s.now()); err != nil {
			return err
		}
		return s.needs.Mails.Ask(ctx, tx, address)
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page.Write(w, r, http.StatusOK, q.askCode(ticket, ""))
}

func (q request) askCode(ticket, mistake string) content {
	return content{
		Title: "Connect " + q.host, Host: q.host, Back: q.back, Loopback: q.loopback, Ticket: ticket, AskCode: true, Mistake: mistake,
		Detail: "If the address has an account, a mail with six digits is on its way. Type them here.",
	}
}

// postCode tries the mailed code.
func (s *Service) postCode(w http.ResponseWriter, r *http.Request, ticket, digits string) {
	if s.slow(w, r, "reissue", mailsAMinute) {
		return
	}
	a, found, err := s.rows.find(r.Context(), s.db.Ent(), ticket)
	switch {
	case err != nil:
		s.fail(w, r, err)
		return
	case !found || !a.current(stepCode, s.now()):
		s.ended(w, r)
		return
	}
	next := secret.New()
	tried, err := s.needs.Mails.Try(r.Context(), a.email, digits, s.needs.Protocols.Client(r), func(ctx context.Context, tx *store.Tx) error {
		if err := s.rows.lock(ctx, tx, ticket); err != nil {
			return err
		}
		if a, found, err = s.rows.find(ctx, tx.Ent(), ticket); err != nil {
			return err
		}
		if !found || !a.current(stepCode, s.now()) {
			return errStepOver
		}
		return s.rows.verify(ctx, tx, a, next, s.now())
	})
	q := requestOf(a)
	switch {
	case errors.Is(err, errStepOver):
		s.ended(w, r)
	case err != nil:
		s.fail(w, r, err)
	case tried == Right:
		s.askConsent(w, r, http.StatusOK, a, next, "")
	case tried == TooMany:
		s.page.Write(w, r, http.StatusTooManyRequests, q.askCode(ticket, "Too many codes were tried. Type the long word of the newest mail instead."))
	default:
		s.page.Write(w, r, http.StatusBadRequest, q.askCode(ticket, "That is not the code, or it has ended."))
	}
}

var errStepOver = errors.New("the step is over")

// requestOf is what the page shows of an authorization.
func requestOf(a authorization) request {
	host, _ := checkClientID(a.clientID) // it was checked when the row was made
	q := request{clientID: a.clientID, redirectURI: a.redirectURI, state: a.state, host: host, scopes: a.scopes}
	_, q.back, q.loopback = target(a.redirectURI)
	return q
}

func (s *Service) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.log.ErrorContext(r.Context(), "serve the page of an authorization", "error", err)
	s.page.Write(w, r, http.StatusInternalServerError, content{Title: "That did not work", Detail: "Nothing was connected. Try again in a minute."})
}
