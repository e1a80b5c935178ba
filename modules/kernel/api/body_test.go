package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// stuck is a body whose end comes when it is released.
type stuck struct {
	rest    io.Reader
	waits   chan struct{} // closed when all but the end has come
	release chan struct{}
}

func (s *stuck) Read(p []byte) (int, error) {
	n, err := s.rest.Read(p)
	if err == io.EOF {
		close(s.waits)
		<-s.release
	}
	return n, err
}

func (s *stuck) Close() error { return nil }

// TestBodiesThatWaitHaveABound: an account, and all together, have a bound of memory for bodies
// whose ends do not come.
func TestBodiesThatWaitHaveABound(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	for name, c := range map[string]struct {
		path, kind        string
		body              string // takes 10 MiB of room
		account, everyone string // in the answers
	}{
		"REST":    {"/v1/sandbox/files", "application/json", strings.Repeat(" ", 8*mebibyte), `"error":"rate_limited"`, `"The service is busy. Try again."`},
		"agents":  {api.AgentsPath, "application/json", strings.Repeat(" ", 8*mebibyte), `"error":"rate_limited"`, `"The service is busy. Try again."`},
		"Connect": {"/scrollery.v1.SandboxService/WriteSandboxFile", "application/proto", strings.Repeat(" ", 5*mebibyte), `"code":"resource_exhausted"`, `"code":"unavailable"`},
		"gRPC": {
			"/scrollery.v1.SandboxService/WriteSandboxFile", "application/grpc", "\x00\x00\x60\x00\x00" + strings.Repeat(" ", 5*mebibyte),
			"Grpc-Status: 8", "Grpc-Status: 14",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *api.Config) { c.RateLimit, c.BodyBytes = true, 34*mebibyte })
			b.mux.ServeAgents(func(_ http.ResponseWriter, r *http.Request) error {
				_, err := io.ReadAll(r.Body)
				return err
			})
			release := make(chan struct{})
			var served sync.WaitGroup
			// send returns the answer, empty if the call waits for the rest of its body.
			send := func(key string) string {
				body := &stuck{strings.NewReader(c.body), make(chan struct{}), release}
				method := http.MethodPost
				if name == "REST" {
					method = http.MethodPut
				}
				request := httptest.NewRequest(method, "http://api.scrollery.test"+c.path, body)
				request.Header.Set("Authorization", "Bearer "+key)
				request.Header.Set("Content-Type", c.kind)
				request.ProtoMajor = 2
				answer, done := httptest.NewRecorder(), make(chan struct{})
				served.Go(func() {
					defer close(done)
					b.mux.Handler().ServeHTTP(answer, request)
				})
				select {
				case <-body.waits:
					return ""
				case <-done:
				case <-time.After(2 * time.Minute):
					t.Fatal("neither an answer nor the end of the body in 2 min")
				}
				var head strings.Builder
				_ = answer.Result().Header.Write(&head)
				_ = answer.Result().Trailer.Write(&head)
				return head.String() + answer.Body.String()
			}
			wants := func(what, key string, want ...string) {
				t.Helper()
				got := send(key)
				if len(want) == 0 && got != "" {
					t.Errorf("%s: got the answer %s, want it to wait", what, got)
				}
				for _, part := range want {
					if !strings.Contains(got, part) {
						t.Errorf("%s: got %q, want %s in it", what, got, part)
					}
				}
			}
			wants("a body", "good")
			wants("a second body of the account", "session", c.account, "Retry-After: 1")
			wants("a body of another account", "pro")
			wants("a body of a third account", "lapsed")
			wants("one beyond what all may send", "drained", c.everyone, "Retry-After: 1")
			small := `{"videoId":"vid_1",` + strings.Repeat(" ", 60<<10) + `"archived":true}`
			check(t, "status with a small body", 200, b.call(t, "POST", "/v1/library/archive", "good", small).status)
			close(release)
			served.Wait()
			release = make(chan struct{})
			wants("a body when those before have ended", "good")
			close(release)
			served.Wait()
		})
	}
}
