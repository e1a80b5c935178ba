package oauth

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Account is one of those that belong to a mail address.
type Account struct {
	ID       int64
	Active   bool
	OpenedAt time.Time
}

// Mails signs people in by a mailed code; the module keys answers it.
type Mails interface {
	// Ask has a code mailed to an address. It does not say whether the address is known.
	Ask(ctx context.Context, tx *store.Tx, email string) error
	// Try tries a code; then is called in the same transaction if it is right.
	Try(ctx context.Context, email, code, client string, then func(ctx context.Context, tx *store.Tx) error) (Tried, error)
	// Accounts are those of an address, the usual one first.
	Accounts(ctx context.Context, email string) ([]Account, error)
}

// Tried is what came of a code.
type Tried int

// What comes of codes.
const (
	Wrong Tried = iota
	Right
	// TooMany tries: the code is not looked at any more.
	TooMany
)

// ErrKeysChanged is Sessions' word for a sign-in that is void, since the lasting keys of
// the account have changed.
var ErrKeysChanged = errors.New("the keys of the account have changed since the sign-in")

// Sessions makes session keys; the module keys answers it.
type Sessions interface {
	// Anchor is the lasting key that a session hangs on, for a person who signed in at since.
	Anchor(ctx context.Context, tx *store.Tx, accountID int64, scopes []string, since time.Time) (keyID int64, err error)
	// Mint makes a session key under a lasting key; ok is false if that key has ended.
	Mint(ctx context.Context, tx *store.Tx, accountID, parentID int64, scopes []string) (made Session, ok bool, err error)
	// End revokes a key of an account.
	End(ctx context.Context, tx *store.Tx, accountID, keyID int64) error
}

// Session is a session key, shown once.
type Session struct {
	Secret    string
	KeyID     int64
	Scopes    []string
	ExpiresAt time.Time
}

// Protocols knows the clients of requests and the scopes of tools; the API kernel answers it.
type Protocols interface {
	// Client is the address of a request's client.
	Client(r *http.Request) string
	// Spend takes one request from a quota a minute; wait is above 0 if it is spent.
	Spend(r *http.Request, name string, quota int) (wait time.Duration)
	// AgentScopes are the scopes that tools need.
	AgentScopes() []string
}

// Needs are the needs of the module.
type Needs struct {
	Mails     Mails
	Sessions  Sessions
	Protocols Protocols
}

// Config is the module's part of the configuration.
type Config struct {
	// BaseURL is the service's public address, without a slash at the end: the issuer.
	BaseURL string `yaml:"-"`
	// Transport fetches the metadata documents of clients, for tests; nil dials public
	// addresses alone.
	Transport http.RoundTripper `yaml:"-"`
}

// The paths that the module serves.
const (
	AuthorizePath = "/oauth/authorize"
	TokenPath     = "/oauth/token"
	resourcesPath = "/.well-known/oauth-protected-resource"
	serverPath    = "/.well-known/oauth-authorization-server"
	agentsPath    = "/mcp"
)

// Lifetimes of the steps.
const (
	// formTTL is how long the mailed code may be typed, as long as it can be valid.
	formTTL = 20 * time.Minute
	// consentTTL is how long a person may take to consent.
	consentTTL = 10 * time.Minute
	// codeTTL is how long a client has to exchange its code.
	codeTTL = time.Minute
)

// Requests a minute of one client address. The forms share the quotas of recovery.
const (
	pagesAMinute  = 20
	mailsAMinute  = 5
	tokensAMinute = 120
)

// Service is the authorization server.
type Service struct {
	needs   Needs
	cfg     Config
	db      *store.DB
	rows    rows
	clients *clients
	page    *page.Writer
	origin  *http.CrossOriginProtection
	log     *slog.Logger
	now     func() time.Time
}

// New returns the service.
func New(db *store.DB, needs Needs, cfg Config, log *slog.Logger) (*Service, error) {
	writer, err := page.New("authorization", pageText, log)
	if err != nil {
		return nil, err
	}
	known, err := newClients(cfg.Transport)
	if err != nil {
		return nil, err
	}
	return &Service{
		needs: needs, cfg: cfg, db: db, rows: rows{db}, clients: known, page: writer,
		origin: http.NewCrossOriginProtection(), log: log, now: time.Now,
	}, nil
}

// Owns reports whether the module serves a path.
func Owns(path string) bool {
	return path == AuthorizePath || path == TokenPath || path == serverPath || path == resourcesPath || path == resourcesPath+agentsPath
}

// ServeHTTP serves every path that the module owns.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case AuthorizePath:
		s.serveAuthorize(w, r)
	case TokenPath:
		s.serveToken(w, r)
	default:
		s.serveMetadata(w, r)
	}
}

// ours reports whether a resource indicator (RFC 8707) names this server: its address, or
// that of its tools, with or without the query that chooses some.
func (s *Service) ours(resource string) bool {
	rest, found := strings.CutPrefix(resource, s.cfg.BaseURL)
	if !found {
		return false
	}
	rest, _, _ = strings.Cut(rest, "?")
	return rest == "" || rest == "/" || rest == agentsPath
}

// offered returns the scopes of a request, all that tools need where it names none; ok is
// false if it names another.
func (s *Service) offered(asked string) (scopes []string, ok bool) {
	all := s.needs.Protocols.AgentScopes()
	if strings.TrimSpace(asked) == "" {
		return all, true
	}
	wanted := map[string]bool{}
	for _, scope := range strings.Fields(asked) {
		wanted[scope] = true
	}
	for _, scope := range all {
		if wanted[scope] {
			scopes = append(scopes, scope)
			delete(wanted, scope)
		}
	}
	return scopes, len(wanted) == 0
}

func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
