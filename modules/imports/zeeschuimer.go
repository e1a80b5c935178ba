package imports

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The addresses to which Zeeschuimer uploads, of which it takes those of 4CAT for granted.
const (
	zeeschuimerUpload = "/api/import-dataset/"
	zeeschuimerState  = "/api/check-query/"
)

// seenByYou is what led to the videos of a capture: someone of the account had them on the screen.
const seenByYou = "seen by you"

// captured are the names under which Zeeschuimer keeps videos that a capture can have.
var captured = []string{"tiktok.com", "instagram.com"}

// captureKey begins the idempotency key of a capture; the hash of what was sent follows.
const captureKey = "zeeschuimer-"

// failureShown is how long the extension shows why an import failed; then it stops asking.
const failureShown = time.Minute

// Zeeschuimer answers the upload button of the browser extension Zeeschuimer in the words of
// 4CAT, for which the extension takes this server. It asks the operations of this module, so
// that all rates, scopes, prices and bounds of an import apply.
//
// The extension keeps only scheme and host of an address, so the key is its user-info, which
// browsers send as Basic credentials after a 401 that asks for them. They may send them again
// for any page; the header of the extension, which no form of a page can send, tells it apart.
type Zeeschuimer struct {
	operations, challenge http.Handler
	result                string
	now                   func() time.Time
}

// NewZeeschuimer returns the handler of the addresses that OwnsZeeschuimer names. page bounds
// what callers without a key may ask of a handler, and result is the address of the page to
// which a finished upload links.
func NewZeeschuimer(operations http.Handler, page func(http.Handler) http.Handler, result string) *Zeeschuimer {
	return &Zeeschuimer{operations, page(http.HandlerFunc(challenge)), result, time.Now}
}

// OwnsZeeschuimer reports whether Zeeschuimer serves a path.
func OwnsZeeschuimer(path string) bool { return path == zeeschuimerUpload || path == zeeschuimerState }

// ServeHTTP answers an upload, or the question how far one is.
func (z *Zeeschuimer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header["Authorization"] == nil {
		z.challenge.ServeHTTP(w, r)
		return
	}
	answer := &translated{ResponseWriter: w, zeeschuimer: z, header: http.Header{}}
	inner := r.Clone(context.WithValue(r.Context(), captureInContext{}, &answer.capture))
	inner.Header = http.Header{"Content-Type": {"application/octet-stream"}}
	for _, name := range []string{"Expect", "X-Forwarded-For", "X-Request-Id", "Traceparent"} {
		if sent := r.Header[name]; sent != nil {
			inner.Header[name] = sent
		}
	}
	if user, password, ok := r.BasicAuth(); ok {
		if password == "" {
			password = user
		}
		answer.keyed = true
		inner.Header.Set("Authorization", "Bearer "+password)
	}
	query := url.Values{}
	switch platform, key := r.Header.Get("X-Zeeschuimer-Platform"), r.URL.Query().Get("key"); {
	case r.URL.Path == zeeschuimerUpload && r.Method == http.MethodPost && slices.Contains(captured, platform):
		answer.capture.sum = sha256.New()
		inner.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, answer.capture.sum), r.Body}
		query.Set("name", captureKey+platform+".ndjson")
		query.Set("format", "zeeschuimer")
	case r.URL.Path == zeeschuimerState && r.Method == http.MethodGet && strings.HasPrefix(key, captureKey):
		inner.Body, inner.ContentLength = http.NoBody, 0
		query.Set("idempotencyKey", key)
	case r.URL.Path == zeeschuimerUpload && r.Method == http.MethodPost:
		answer.missing = "Unknown platform or source format"
	default:
		answer.missing = "Dataset does not exist."
	}
	inner.Method = http.MethodPost
	inner.URL = &url.URL{Path: "/v1/imports", RawQuery: query.Encode()}
	if answer.missing != "" {
		inner.URL.Path += r.URL.Path // which is nowhere: the refusal is counted as all of them are
	}
	inner.RequestURI = ""
	z.operations.ServeHTTP(answer, inner)
	answer.finish()
}

// capture is what comes with a file of the extension.
type capture struct {
	// sum is the hash of the file as far as it was read; nil for a question.
	sum hash.Hash
	// key is that of the import.
	key string
}

type captureInContext struct{}

// captureOf is the capture that a request brings; nil if it is none of the extension.
func captureOf(ctx context.Context) *capture {
	found, _ := ctx.Value(captureInContext{}).(*capture)
	return found
}

// prepare completes an upload of the extension. It refuses a key that may do more than one in
// the settings of a browser should.
func (c *capture) prepare(ctx context.Context, upload *Upload) error {
	if c == nil {
		return nil
	}
	if v := viewer.FromContext(ctx); v == nil || slices.ContainsFunc(v.Scopes, func(s string) bool { return !strings.HasPrefix(s, "library:") }) {
		return apierr.New(apierr.Forbidden, "Make a key of the scope library:write alone for Zeeschuimer: it is kept in the settings of the browser.")
	}
	if c.sum != nil {
		upload.SeededBy = seenByYou
		upload.Named = func() string { return captureKey + hex.EncodeToString(c.sum.Sum(nil)[:20]) }
	}
	return nil
}

// translated is the answer of an operation on its way to the extension.
type translated struct {
	http.ResponseWriter
	zeeschuimer *Zeeschuimer
	capture     capture
	header      http.Header
	status      int
	body        bytes.Buffer
	// keyed is whether credentials came, and missing is why nothing is at the address.
	keyed   bool
	missing string
	sent    bool
}

func (t *translated) Header() http.Header { return t.header }

func (t *translated) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
}

func (t *translated) Write(p []byte) (int, error) { return t.body.Write(p) }

// Unwrap is for [http.ResponseController]: deadlines are those of the connection.
func (t *translated) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// FlushError sends the answer.
func (t *translated) FlushError() error {
	t.finish()
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// finish sends the answer, once.
func (t *translated) finish() {
	if t.sent || t.status == 0 {
		return
	}
	t.sent = true
	for _, name := range []string{"Retry-After", "X-Request-Id"} {
		if value := t.header[name]; value != nil {
			t.ResponseWriter.Header()[name] = value
		}
	}
	status, answer := t.translate()
	send(t.ResponseWriter, status, answer)
}

// send writes an answer at once: the extension reads what it has as soon as there is any.
func send(w http.ResponseWriter, status int, answer map[string]any) {
	text, err := json.Marshal(answer)
	if err != nil {
		status, text = http.StatusInternalServerError, nil // it has texts and numbers alone
	}
	header := w.Header()
	if status == http.StatusUnauthorized {
		header.Set("Www-Authenticate", `Basic realm="a key of the scope library:write", charset="UTF-8"`)
	}
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}

// How much of an upload without a key is read, and for how long.
const (
	challengeReads  = 128 << 20
	challengeWithin = 5 * time.Minute
)

// challenge asks for the key. A browser sends the whole capture before it reads the answer,
// and reports a broken connection if the server does not read it; then it sends it again.
func challenge(w http.ResponseWriter, r *http.Request) {
	if http.NewResponseController(w).SetReadDeadline(time.Now().Add(challengeWithin)) == nil {
		_, _ = io.CopyN(io.Discard, api.Dropped(r), challengeReads)
	}
	send(w, http.StatusUnauthorized, map[string]any{"message": "Put a key of the scope library:write before the host of the address: https://KEY@host."})
}

// translate returns the status and the answer that the extension understands.
func (t *translated) translate() (status int, answer map[string]any) {
	var got struct {
		Message string
		Import  struct {
			Status, Failure                    string
			Percent, CompletedAt               float64
			NewVideos, SeenAgain, AlreadyThere int
		}
	}
	if err := json.Unmarshal(t.body.Bytes(), &got); err != nil {
		return http.StatusInternalServerError, map[string]any{"message": "The operation failed."}
	}
	made, asked := &got.Import, t.capture.sum == nil
	switch {
	case t.status == http.StatusUnauthorized && t.keyed: // another 401 would only open the browser's dialog
		return http.StatusForbidden, map[string]any{"message": got.Message}
	case t.status == http.StatusNotFound:
		return t.status, map[string]any{"message": t.missing}
	case t.status == http.StatusBadRequest && asked:
		return http.StatusNotFound, map[string]any{"message": "Dataset does not exist."}
	case t.status >= http.StatusBadRequest:
		return t.status, map[string]any{"message": got.Message}
	case !asked:
		return http.StatusOK, map[string]any{"status": "queued", "key": t.capture.key, "url": t.zeeschuimer.result}
	}
	state := map[string]any{
		"key": t.capture.key, "url": t.zeeschuimer.result, "progress": int(made.Percent), "rows": made.NewVideos + made.SeenAgain + made.AlreadyThere,
		"done": made.Status == Completed, "status": fmt.Sprintf("%s, %d %%", made.Status, int(made.Percent)),
	}
	switch made.Status {
	case Failed:
		// The extension calls whatever is done completed, and shows the status only of what is not.
		if ended := time.UnixMilli(int64(made.CompletedAt)); t.zeeschuimer.now().Sub(ended) > failureShown {
			return http.StatusGone, map[string]any{"message": made.Failure}
		}
		state["status"] = "the import failed. " + made.Failure + " Reload this page before you try again."
	case Undoing, Undone:
		return http.StatusGone, map[string]any{"message": "The import was undone."}
	}
	return http.StatusOK, state
}
