package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// OperatorPath is where the operations port serves the page of the operator.
const OperatorPath = "/operator/"

const (
	// LinkLife is how long a one-time link can be opened.
	LinkLife = 10 * time.Minute
	// operatorLife is how long one is signed in then; a restart ends it too.
	operatorLife = 8 * time.Hour
	// maxOperators bounds who is signed in at once, and the links that were used lately.
	maxOperators = 100
	nonceSize    = 16
)

// OperatorCode makes the code of a one-time link. A process that knows the key of sealed secrets may
// make one: a command on the machine of the server does, without asking it.
func OperatorCode(key string, now time.Time) string {
	code := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	code = append(code, nonce...)
	return hex.EncodeToString(append(code, signed(key, code)...))
}

func signed(key string, code []byte) []byte {
	mac := hmac.New(sha256.New, []byte("scrollery operator page\x00"+key))
	mac.Write(code)
	return mac.Sum(nil)
}

// Operators signs operators in. It is safe for concurrent use. It keeps hashes alone, in
// memory: a link works once in one process, and only if it was made after that began.
type Operators struct {
	key   string
	since time.Time
	log   *slog.Logger
	now   func() time.Time
	cross *http.CrossOriginProtection

	mutex          sync.Mutex
	used, sessions map[[sha256.Size]byte]time.Time // to their ends
}

// NewOperators returns one that takes the codes made with key from now on.
func NewOperators(key string, log *slog.Logger) *Operators {
	return &Operators{
		key: key, since: time.Now().Truncate(time.Millisecond), log: log, now: time.Now, cross: http.NewCrossOriginProtection(),
		used: map[[sha256.Size]byte]time.Time{}, sessions: map[[sha256.Size]byte]time.Time{},
	}
}

var errCode = errors.New("the link was used, is too old, or is of another server")

// enter takes a code and returns the token of a session.
func (o *Operators) enter(code string) (string, error) {
	raw, err := hex.DecodeString(code)
	if err != nil || len(raw) != 8+nonceSize+sha256.Size || !hmac.Equal(signed(o.key, raw[:8+nonceSize]), raw[8+nonceSize:]) {
		return "", errCode
	}
	made, now := time.UnixMilli(int64(binary.BigEndian.Uint64(raw))), o.now()
	if made.Before(o.since) || made.After(now.Add(time.Minute)) || now.Sub(made) > LinkLife {
		return "", errCode
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, all := range []map[[sha256.Size]byte]time.Time{o.used, o.sessions} {
		for sum, end := range all {
			if !now.Before(end) {
				delete(all, sum)
			}
		}
	}
	sum := sha256.Sum256(raw)
	if _, again := o.used[sum]; again || len(o.used) >= maxOperators || len(o.sessions) >= maxOperators {
		return "", errCode
	}
	token := secret.New()
	o.used[sum], o.sessions[sha256.Sum256([]byte(token))] = made.Add(LinkLife+time.Minute), now.Add(operatorLife)
	return token, nil
}

// presented is the hash of the token in a request.
func presented(r *http.Request) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
}

// signedIn reports whether the request has the token of a session.
func (o *Operators) signedIn(r *http.Request) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	end, found := o.sessions[presented(r)]
	return found && o.now().Before(end)
}

// leave ends the session whose token the request has. Only its page knows the token.
func (o *Operators) leave(r *http.Request) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.sessions, presented(r))
}

// OperatorNeeds are what the page of the operator asks. Their answers are sent as JSON; who is
// signed in sees the errors of all but Overview.
type OperatorNeeds struct {
	Overview, Reload func(*http.Request) (any, error)
	// Check has the plugin of an id check its settings and connection.
	Check func(r *http.Request, plugin string) (any, error)
	// Account shows an account after it did what the order says.
	Account func(*http.Request, AccountOrder) (any, error)
	// Scroll does what the order says.
	Scroll func(*http.Request, ScrollOrder) (any, error)
}

// ScrollOrder is what to do with a scroll of any account: to `cancel` it, or to `retry` it, which
// starts another one for the same.
type ScrollOrder struct {
	Scroll string `json:"scroll"`
	Do     string `json:"do"`
}

// AccountOrder is what to do with the account of an id or an address: to show it where Do is
// empty, else `limits` with pairs `name=value`, `plan` with a plan, `grant` or `take` with a number
// of credits and a reference, `block` or `lift`, `revoke` with the id of a key, `delete` or `keep`.
type AccountOrder struct {
	Account string   `json:"account"`
	Do      string   `json:"do"`
	Values  []string `json:"values"`
}

// Operator serves the page of the operator below OperatorPath: its files to everyone, the rest to
// who is signed in. It fails in a binary without the console.
func (c *Console) Operator(operators *Operators, needs OperatorNeeds) (http.Handler, error) {
	if !c.Present() {
		return nil, fmt.Errorf("this binary was built without the console: install npm and run `make build`")
	}
	mux := http.NewServeMux()
	for name, path := range map[string]string{operatorDocument: "{$}", "operator.js": "operator.js", "console.css": "console.css"} {
		found := c.files[name]
		mux.HandleFunc("GET "+OperatorPath+path, found.serve)
	}
	mux.HandleFunc("POST "+OperatorPath+"enter", operators.serveEnter)
	mux.HandleFunc("POST "+OperatorPath+"leave", func(w http.ResponseWriter, r *http.Request) {
		operators.leave(r)
		guarded(w)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST "+OperatorPath+"reload", operators.only(func(w http.ResponseWriter, r *http.Request) {
		done, err := needs.Reload(r)
		if err != nil {
			refuse(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		answer(w, done)
	}))
	mux.HandleFunc("POST "+OperatorPath+"check", operators.only(ordered(func(r *http.Request, of struct {
		Plugin string `json:"plugin"`
	},
	) (any, error) {
		return needs.Check(r, of.Plugin)
	})))
	mux.HandleFunc("POST "+OperatorPath+"account", operators.only(ordered(needs.Account)))
	mux.HandleFunc("POST "+OperatorPath+"scroll", operators.only(ordered(needs.Scroll)))
	mux.HandleFunc("GET "+OperatorPath+"status", operators.only(func(w http.ResponseWriter, r *http.Request) {
		status, err := needs.Overview(r)
		if err != nil {
			operators.log.ErrorContext(r.Context(), "read the operator's overview", "error", err)
			refuse(w, http.StatusServiceUnavailable, "The overview cannot be read; the log says why.")
			return
		}
		answer(w, status)
	}))
	return mux, nil
}

// ordered does what the body of a request says, and answers with what came of it.
func ordered[T any](do func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order T
		if !readJSON(w, r, &order) {
			return
		}
		done, err := do(r, order)
		if err != nil {
			refuse(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		answer(w, done)
	}
}

// only serves who is signed in.
func (o *Operators) only(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !o.signedIn(r) {
			refuse(w, http.StatusUnauthorized, "Sign in with a new link: scrollery console prints one.")
			return
		}
		serve(w, r)
	}
}

// serveEnter takes `{"code":"…"}` from the page's own origin and answers `{"token":"…"}`.
func (o *Operators) serveEnter(w http.ResponseWriter, r *http.Request) {
	if err := o.cross.Check(r); err != nil {
		refuse(w, http.StatusForbidden, "Only the page may exchange a code.")
		return
	}
	var body struct {
		Code string `json:"code"`
	}
	if !readJSON(w, r, &body) {
		return
	}
	token, err := o.enter(body.Code)
	if err != nil {
		o.log.WarnContext(r.Context(), "an operator's link was refused")
		refuse(w, http.StatusNotFound, err.Error())
		return
	}
	o.log.InfoContext(r.Context(), "an operator signed in")
	answer(w, map[string]string{"token": token})
}

// readJSON reads the body of a request, and answers what is wrong with it.
func readJSON(w http.ResponseWriter, r *http.Request, body any) bool {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "Send JSON.")
		return false
	}
	reader := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	reader.DisallowUnknownFields()
	if err := reader.Decode(body); err != nil {
		refuse(w, http.StatusBadRequest, "The body cannot be read.")
		return false
	}
	return true
}

func guarded(w http.ResponseWriter) http.Header {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return header
}

func refuse(w http.ResponseWriter, status int, why string) {
	guarded(w)
	http.Error(w, why, status)
}

func answer(w http.ResponseWriter, body any) {
	guarded(w).Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the reader may have left
}
