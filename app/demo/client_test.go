package demo

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestACallWaitsAsItIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retryAfter string
		calls      int64
		want       string // part of the error; empty for none
	}{
		"a short wait": {"1", 2, ""},
		"a long one":   {"60", 1, "answered 429"},
		"none":         {"", 1, "answered 429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					if c.retryAfter != "" {
						w.Header().Set("Retry-After", c.retryAfter)
					}
					w.WriteHeader(http.StatusTooManyRequests)
				}
				_, _ = w.Write([]byte("{}"))
			}))
			defer server.Close()
			client := &client{base: server.URL, http: server.Client()}
			var out struct{}
			err := client.call(t.Context(), "GET", "/", nil, &out)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := calls.Load(); got != c.calls {
				t.Errorf("got %d calls, want %d", got, c.calls)
			}
		})
	}
}
