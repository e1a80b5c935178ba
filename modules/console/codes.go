package console

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

const (
	// ExchangePath takes a one-time code and answers the key it stands for.
	ExchangePath = Path + "exchange"
	// CodeLife is how long a code can be exchanged.
	CodeLife = 10 * time.Minute
	maxCodes = 16
	maxBody  = 1 << 10
)

// Mint makes the key that a code stands for, when the code is exchanged.
type Mint func(ctx context.Context) (key string, err error)

// Codes are one-time codes that sign a browser in, without its owner typing a key. A
// code is in the fragment of an address, so it reaches no log and no other site. It
// opens one key, once, within CodeLife, on the process that issued it.
type Codes struct {
	log    *slog.Logger
	now    func() time.Time
	cross  *http.CrossOriginProtection
	mutex  sync.Mutex
	issued map[[sha256.Size]byte]issue
}

type issue struct {
	mint    Mint
	expires time.Time
}

// NewCodes returns an empty set.
func NewCodes(log *slog.Logger) *Codes {
	return &Codes{log: log, now: time.Now, cross: http.NewCrossOriginProtection(), issued: map[[sha256.Size]byte]issue{}}
}

// Issue returns a code, or nothing when too many wait to be exchanged.
func (c *Codes) Issue(mint Mint) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for sum, waiting := range c.issued {
		if !c.now().Before(waiting.expires) {
			delete(c.issued, sum)
		}
	}
	if len(c.issued) >= maxCodes {
		return ""
	}
	code := secret.New()
	c.issued[sha256.Sum256([]byte(code))] = issue{mint, c.now().Add(CodeLife)}
	return code
}

// take removes the code; ok is false for one that is unknown, used or too old.
func (c *Codes) take(code string) (mint Mint, ok bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	sum := sha256.Sum256([]byte(code))
	found, ok := c.issued[sum]
	delete(c.issued, sum)
	return found.mint, ok && c.now().Before(found.expires)
}

// ServeHTTP takes `{"code":"…"}` from the console's own origin and answers
// `{"apiKey":"…"}`; 404 where the code opens nothing.
func (c *Codes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		header.Set("Allow", "POST")
		http.Error(w, "Post a code.", http.StatusMethodNotAllowed)
		return
	}
	if err := c.cross.Check(r); err != nil {
		http.Error(w, "Only the console may exchange a code.", http.StatusForbidden)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "Send JSON.", http.StatusUnsupportedMediaType)
		return
	}
	var body struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		http.Error(w, "The body cannot be read.", http.StatusBadRequest)
		return
	}
	mint, ok := c.take(body.Code)
	if !ok {
		http.Error(w, "The code was used, or its time is over.", http.StatusNotFound)
		return
	}
	key, err := mint(r.Context())
	if err != nil {
		c.log.ErrorContext(r.Context(), "mint the key of a one-time code", "error", err)
		http.Error(w, "The key could not be made.", http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"apiKey": key}) // the reader may have left
}
