package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// askConsent is the last form: the account, and what the client may do.
func (s *Service) askConsent(w http.ResponseWriter, r *http.Request, status int, a authorization, ticket, mistake string) {
	accounts, err := s.needs.Mails.Accounts(r.Context(), a.email)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := requestOf(a)
	shown := content{Title: "Connect " + q.host + "?", Host: q.host, Back: q.back, Loopback: q.loopback, Ticket: ticket, Mistake: mistake}
	for i, account := range accounts {
		shown.Accounts = append(shown.Accounts, choice{
			ID: publicid.Format(publicid.Account, account.ID), Opened: account.OpenedAt.UTC().Format("2 January 2006"),
			Active: account.Active, Chosen: i == 0,
		})
	}
	for _, scope := range a.scopes {
		means := meanings[scope]
		if means == "" {
			means = scope
		}
		if isRead(scope) {
			shown.Reads = append(shown.Reads, means)
		} else {
			shown.Writes = append(shown.Writes, permission{scope, means})
		}
	}
	origin, _, _ := target(a.redirectURI)
	s.page.WriteForm(w, r, status, shown, origin)
}

// postConsent takes the person's answer and sends them back to the client.
func (s *Service) postConsent(w http.ResponseWriter, r *http.Request, ticket string, form url.Values) {
	answer := form.Get("answer")
	if answer != "allow" && answer != "deny" {
		s.stop(w, r, http.StatusBadRequest, "Choose whether to allow it.")
		return
	}
	a, found, err := s.rows.find(r.Context(), s.db.Ent(), ticket)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !found || !a.current(stepConsent, s.now()) {
		s.ended(w, r)
		return
	}
	accounts, err := s.needs.Mails.Accounts(r.Context(), a.email)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if answer == "allow" {
		at := slices.IndexFunc(accounts, func(owned Account) bool {
			return publicid.Format(publicid.Account, owned.ID) == form.Get("account")
		})
		if at < 0 {
			s.askConsent(w, r, http.StatusBadRequest, a, ticket, "Choose one of the accounts.")
			return
		}
		granted := slices.DeleteFunc(slices.Clone(a.scopes), func(scope string) bool {
			return !isRead(scope) && !slices.Contains(form["allow"], scope)
		})
		if len(granted) == 0 {
			s.askConsent(w, r, http.StatusBadRequest, a, ticket, "Allow at least one thing, or choose not to allow it.")
			return
		}
		a.accountID, a.scopes = accounts[at].ID, granted
	}
	code, err := s.decide(r.Context(), ticket, a, answer == "allow")
	switch {
	case errors.Is(err, errStepOver):
		s.ended(w, r)
	case errors.Is(err, ErrKeysChanged):
		s.stop(w, r, http.StatusConflict, "The keys of the account have changed since you signed in. Begin again in the program.")
	case err != nil:
		s.fail(w, r, err)
	case code == "":
		s.sendBack(w, a, map[string]string{"error": "access_denied", "error_description": "The person did not allow it."})
	default:
		s.sendBack(w, a, map[string]string{"code": code})
	}
}

// decide ends the page's part: with a code, or without one where it is denied. One answer
// counts, however many come.
func (s *Service) decide(ctx context.Context, ticket string, chosen authorization, allowed bool) (code string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.rows.lock(ctx, tx, ticket); err != nil {
			return err
		}
		now := s.now()
		a, found, err := s.rows.find(ctx, tx.Ent(), ticket)
		switch {
		case err != nil:
			return err
		case !found || !a.current(stepConsent, now):
			return errStepOver
		case !allowed:
			return s.rows.remove(ctx, tx, a.id)
		}
		a.accountID, a.scopes = chosen.accountID, chosen.scopes
		if a.parentID, err = s.needs.Sessions.Anchor(ctx, tx, a.accountID, a.scopes, a.verifiedAt); err != nil {
			return err
		}
		code = secret.New()
		return s.rows.grant(ctx, tx, a, code, now)
	})
	return code, err
}

// sendBack leads the browser to the client's address with an answer.
func (s *Service) sendBack(w http.ResponseWriter, a authorization, answer map[string]string) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Location", s.answerTo(a.redirectURI, a.state, answer))
	w.WriteHeader(http.StatusSeeOther)
}
