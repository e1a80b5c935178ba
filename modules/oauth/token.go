package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// maxTokenForm is the most bytes of a request for a token.
const maxTokenForm = 8 << 10

// tokenRefusal is an error of RFC 6749, section 5.2.
type tokenRefusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	status      int
}

func refuse(code, why string) *tokenRefusal {
	return &tokenRefusal{Code: code, Description: why, status: http.StatusBadRequest}
}

// errGrant is one for every code that opens nothing, so that it does not say which do.
var errGrant = refuse("invalid_grant", "The code is unknown, used or expired, or was not given for this request.")

// token is a successful answer.
type token struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
	Scope       string `json:"scope"`
}

// serveToken exchanges a code for a session key.
func (s *Service) serveToken(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	answer, refusal, err := s.answerToken(w, r)
	switch {
	case err != nil:
		s.log.ErrorContext(r.Context(), "exchange a code for a session key", "error", err)
		writeJSON(w, http.StatusInternalServerError, tokenRefusal{Code: "server_error", Description: "It did not work. Begin again."})
	case refusal != nil:
		writeJSON(w, refusal.status, refusal)
	default:
		writeJSON(w, http.StatusOK, answer)
	}
}

func (s *Service) answerToken(w http.ResponseWriter, r *http.Request) (answer token, refusal *tokenRefusal, err error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return token{}, &tokenRefusal{"invalid_request", "Send the request as POST.", http.StatusMethodNotAllowed}, nil
	}
	if wait := s.needs.Protocols.Spend(r, "oauth.token", tokensAMinute); wait > 0 {
		w.Header().Set("Retry-After", wholeSeconds(wait))
		return token{}, &tokenRefusal{"temporarily_unavailable", "Too many requests; slow down.", http.StatusTooManyRequests}, nil
	}
	asked, refusal := readExchange(w, r)
	if refusal != nil {
		return token{}, refusal, nil
	}
	if !s.ours(asked.resource) {
		return token{}, refuse("invalid_target", "resource must be "+s.cfg.BaseURL+agentsPath+"."), nil
	}
	made, err := s.exchange(r.Context(), asked)
	switch {
	case errors.Is(err, errRefused):
		return token{}, errGrant, nil
	case err != nil:
		return token{}, nil, err
	}
	return token{
		AccessToken: made.Secret, TokenType: "Bearer", Scope: strings.Join(made.Scopes, " "),
		ExpiresIn: int64(made.ExpiresAt.Sub(s.now()) / time.Second),
	}, nil, nil
}

// exchange is what a client sends for a token.
type exchange struct{ code, clientID, redirectURI, verifier, resource string }

// readExchange reads the form. A request that is not well-formed uses no code up.
func readExchange(w http.ResponseWriter, r *http.Request) (exchange, *tokenRefusal) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return exchange{}, &tokenRefusal{"invalid_request", "Send the form as application/x-www-form-urlencoded.", http.StatusUnsupportedMediaType}
	}
	if r.Header.Get("Authorization") != "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="none"`)
		return exchange{}, &tokenRefusal{"invalid_client", "Clients have no secret: send client_id in the form, and no Authorization.", http.StatusUnauthorized}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxTokenForm)
	if err := r.ParseForm(); err != nil {
		return exchange{}, refuse("invalid_request", "The form cannot be read, or is larger than 8 KiB.")
	}
	one := func(name string) (string, bool) {
		values := r.PostForm[name]
		if len(values) != 1 || len(values[0]) > 1024 {
			return "", false
		}
		return values[0], true
	}
	grant, ok := one("grant_type")
	switch {
	case !ok:
		return exchange{}, refuse("invalid_request", "grant_type is needed, once.")
	case grant != "authorization_code":
		return exchange{}, refuse("unsupported_grant_type", "grant_type must be authorization_code. There are no refresh tokens.")
	}
	asked := exchange{}
	for name, field := range map[string]*string{
		"code": &asked.code, "client_id": &asked.clientID, "redirect_uri": &asked.redirectURI, "code_verifier": &asked.verifier, "resource": &asked.resource,
	} {
		if *field, ok = one(name); !ok {
			return exchange{}, refuse("invalid_request", name+" is needed, once, with at most 1024 bytes.")
		}
	}
	if !isWord(asked.verifier, 43, 128, "._~-") {
		return exchange{}, refuse("invalid_request", "code_verifier must have 43 to 128 letters, digits or -._~.")
	}
	return asked, nil
}

var errRefused = errors.New("the code opens nothing")

// exchange uses a code up. One that comes again ends the session that it made, since one
// of the two who sent it has stolen it.
func (s *Service) exchange(ctx context.Context, asked exchange) (made Session, err error) {
	if len(asked.code) != secret.Length || !secret.Clean(asked.code) {
		return Session{}, errRefused
	}
	refused := false
	err = s.db.Write(audit.AsCustomer(ctx), func(ctx context.Context, tx *store.Tx) error {
		refused = true // and what is written for that is kept
		if err := s.rows.lock(ctx, tx, asked.code); err != nil {
			return err
		}
		now := s.now()
		a, found, err := s.rows.find(ctx, tx.Ent(), asked.code)
		switch {
		case err != nil || !found:
			return err
		case a.step == stepRedeemed && a.keyID != 0:
			return s.revoke(ctx, tx, a)
		case !a.current(stepGranted, now):
			return nil
		}
		if !asked.fits(a) {
			return s.rows.redeem(ctx, tx, a, nil, now)
		}
		session, ok, err := s.needs.Sessions.Mint(ctx, tx, a.accountID, a.parentID, a.scopes)
		if err != nil {
			return err
		}
		if !ok {
			return s.rows.redeem(ctx, tx, a, nil, now)
		}
		if err := s.rows.redeem(ctx, tx, a, &session, now); err != nil {
			return err
		}
		refused, made = false, session
		return s.rows.note(ctx, tx, a, "oauth.connect", session.KeyID)
	})
	if err == nil && refused {
		err = errRefused
	}
	return made, err
}

// fits reports whether the request is of the client to which the code was given.
func (e exchange) fits(a authorization) bool {
	sum := sha256.Sum256([]byte(e.verifier))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(proof), []byte(a.challenge)) == 1 &&
		e.clientID == a.clientID && e.redirectURI == a.redirectURI && sameResource(e.resource, a.resource)
}

// sameResource compares two addresses of this server, of which one may end in a slash.
func sameResource(a, b string) bool {
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

func (s *Service) revoke(ctx context.Context, tx *store.Tx, a authorization) error {
	if err := s.needs.Sessions.End(ctx, tx, a.accountID, a.keyID); err != nil {
		return err
	}
	if err := s.rows.redeem(ctx, tx, a, &Session{ExpiresAt: s.now()}, s.now()); err != nil {
		return err // without a key, so that a third time changes nothing
	}
	return s.rows.note(ctx, tx, a, "oauth.code_again", a.keyID)
}

func wholeSeconds(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}
