package endpoint_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"

	"github.com/scrollery/scrollery/plugins/internal/endpoint"
)

// ask has a server answer one question, and returns what it was asked with.
func ask(t *testing.T, key string, answer http.HandlerFunc) (keys []string, err error) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.URL.Path+" "+r.Header.Get("Authorization"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	defer server.Close()
	chat := openai.NewChatCompletionService(append(endpoint.Options(&http.Client{}, server.URL+"/v1/", key, 1<<20), option.WithMaxRetries(0))...)
	_, err = chat.New(t.Context(), openai.ChatCompletionNewParams{Model: "m"})
	return keys, err
}

func TestKeyGoesToTheAddressAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key    string
		answer http.HandlerFunc
		fails  bool
		want   string
	}{
		"with a key": {"k", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) }, false, "/v1/chat/completions Bearer k"},
		"without":    {"", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) }, false, "/v1/chat/completions "},
		"moved": {"k", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, true, "/v1/chat/completions Bearer k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := ask(t, c.key, c.answer)
			if len(asked) != 1 || asked[0] != c.want || (err != nil) != c.fails {
				t.Errorf("asked %q, %v; want %q", asked, err, c.want)
			}
		})
	}
}

// TestAnswerWithoutEnd: what is beyond the bound is never read.
func TestAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	if _, err := ask(t, "", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"id":"`))
		for more := strings.Repeat("x", 1<<16); r.Context().Err() == nil; {
			if _, err := w.Write([]byte(more)); err != nil {
				return
			}
		}
	}); err == nil {
		t.Error("an endless answer was taken, want an error")
	}
}
