package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// limited refuses calls for their rate as the server does: lists wait for a short time,
// a long one is reported.
func limited(t *testing.T, caller *apptest.Caller) {
	var refusals atomic.Int32
	var seconds atomic.Value
	server := between(t, caller.Address(), func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
		if !strings.HasSuffix(r.URL.Path, "/GetLibrary") || refusals.Add(-1) < 0 {
			return w, true
		}
		wait, _ := seconds.Load().(float64)
		refused := connect.NewError(connect.CodeResourceExhausted, nil)
		detail, err := connect.NewErrorDetail(&pb.Error{Error: "rate_limited", Message: "Too many calls.", RetryAfter: &wait})
		if err != nil {
			t.Error(err)
		}
		refused.AddDetail(detail)
		if err := connect.NewErrorWriter().Write(w, r, refused); err != nil {
			t.Error(err)
		}
		return w, false
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": server, "SCROLLERY_KEY": caller.Key})
	t.Run("a short wait is waited for", func(t *testing.T) {
		refusals.Store(2)
		seconds.Store(0.05)
		if got := c.must(t, customers.ExitDone, "library", "--limit", "30", "--jq", "length"); got.stdout != "30\n" || refusals.Load() >= 0 {
			t.Errorf("got %q, %d refusals are left, want stdout %q and refusals less than 0", got.stdout, refusals.Load(), "30\n")
		}
	})
	t.Run("a long wait is reported", func(t *testing.T) {
		refusals.Store(2)
		seconds.Store(3600.0)
		got := c.must(t, customers.ExitLimited, "library")
		if !strings.Contains(got.stderr, "Too many calls.\nTry again in 3600 seconds.\n") || got.stdout != "" {
			t.Errorf("stderr %q, stdout %q, want stderr with %q and stdout empty", got.stderr, got.stdout, "Too many calls.\nTry again in 3600 seconds.\n")
		}
		got = c.must(t, customers.ExitLimited, "library", "--json", "id")
		var body struct {
			Error      string
			RetryAfter float64
		}
		if err := json.Unmarshal([]byte(got.stderr), &body); err != nil || body.Error != "rate_limited" || body.RetryAfter != 3600 {
			t.Errorf(`as JSON: got error %v, %q; want rate_limited with retryAfter 3600`, err, got.stderr)
		}
	})
}
