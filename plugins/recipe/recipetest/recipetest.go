// Package recipetest has a double of a provider that does not exist, Reelbase, and the recipe for it.
//
// What its page would say: `GET /2/creators/{name}/clips` and `GET /2/search?words=` give a creator's
// clips, `take` (1 to 20) at a time, from the cursor `from`, which is `result.paging.after` of the page
// before and null at the end. The key is in the header X-Reelbase-Key. Refusals have the status 200 and
// `fault.kind`: no_creator, broke, slow_down, bad_key, bad_request, with words in `fault.words`. A request
// that is not refused costs 0.0035 USD. The double refuses what the page does not name.
package recipetest

import (
	_ "embed" // the recipe
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Recipe is the recipe for the provider.
//
//go:embed reelbase.yaml
var Recipe string

// Key is the key that the provider takes.
const Key = "rb_live_51c2f0e7a9d84b36"

// Server is the provider.
type Server struct {
	*httptest.Server
	// Clips of each creator, by handle without @.
	Clips map[string]int
	// Intercept, if not nil, answers in the provider's place and says whether it did.
	Intercept func(http.ResponseWriter, *http.Request) bool

	mu     sync.Mutex
	asked  []string
	micros int64
}

// New starts the provider.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{Clips: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Asked are the requests so far, without the key.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Charged is what the provider charged, in millionths of a US dollar: 0.0035 for each request that
// it did not refuse.
func (s *Server) Charged() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.micros
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.mu.Unlock()
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	refuse := func(kind, words string) {
		_ = json.NewEncoder(w).Encode(map[string]any{"fault": map[string]any{"kind": kind, "words": words}}) // status 200, as the page says
	}
	if r.Header.Get("X-Reelbase-Key") != Key {
		refuse("bad_key", "this key is not known: "+r.Header.Get("X-Reelbase-Key"))
		return
	}
	query := r.URL.Query()
	for name := range query {
		if !slices.Contains([]string{"take", "from", "words"}, name) {
			refuse("bad_request", "no parameter "+name)
			return
		}
	}
	handle, _, is := strings.Cut(strings.TrimPrefix(r.URL.Path, "/2/creators/"), "/clips")
	if r.URL.Path == "/2/search" {
		handle, is = strings.ReplaceAll(query.Get("words"), " ", ""), true
	}
	clips, known := s.Clips[handle]
	switch {
	case !is || r.Method != http.MethodGet:
		refuse("bad_request", "no such path")
		return
	case !known:
		refuse("no_creator", "no creator of that name")
		return
	}
	take, err := strconv.Atoi(query.Get("take"))
	from, err2 := 0, error(nil)
	if text := query.Get("from"); text != "" {
		from, err2 = strconv.Atoi(strings.TrimPrefix(text, "c:"))
	}
	if err != nil || err2 != nil || take < 1 || take > 20 {
		refuse("bad_request", "take is 1 to 20")
		return
	}
	s.mu.Lock()
	s.micros += 3500
	s.mu.Unlock()
	page := []any{}
	for n := from; n < min(from+take, clips); n++ {
		page = append(page, Clip(handle, n))
	}
	paging := map[string]any{"after": nil}
	if from+take < clips {
		paging["after"] = fmt.Sprintf("c:%d", from+take)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"result": map[string]any{"clips": page, "paging": paging}})
}

// Clip is a video as the provider has it.
func Clip(handle string, n int) map[string]any {
	return map[string]any{
		"ref": strconv.FormatInt(7400000000000000000+int64(n), 10), "by": map[string]any{"name": handle, "key": "u-" + handle},
		"made": 1780000000 + n, "says": fmt.Sprintf("Clip %d of %s #coffee", n, handle), "secs": 20 + n%10,
		"tally": map[string]any{"seen": 1000 + n, "liked": 50, "replies": 3, "passed_on": 2, "kept": 1},
	}
}
