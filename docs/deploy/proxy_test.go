package deploy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// Caddy with the shipped file passes REST calls, gRPC calls and streams on to a server, whose
// health it checks first. Only the ports are the test's own.
func TestCaddyPassesCallsOn(t *testing.T) {
	t.Parallel()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("caddy is not installed")
		}
		t.Skip("caddy is not installed")
	}
	running := apptest.Start(t)
	account := running.Account(t, "standard")
	address := proxied(t, caddy, running)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, // a certificate of the test's own
	}}
	ask := func(path, accept string) *http.Request {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+account.Key)
		request.Header.Set("Accept", accept)
		return request
	}

	t.Run("REST", func(t *testing.T) {
		var last string
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
			answer, err := client.Do(ask("/v1/workspace", "application/json"))
			if err != nil {
				last = err.Error() // it is still starting
				continue
			}
			_ = answer.Body.Close()
			if last = answer.Status; answer.StatusCode == http.StatusOK {
				return
			}
		}
		t.Fatalf("a call through the proxy: got %s, want 200", last)
	})
	t.Run("gRPC", func(t *testing.T) {
		health := scrolleryv1connect.NewSystemServiceClient(client, address, connect.WithGRPC())
		answer, err := health.GetHealth(t.Context(), &scrolleryv1.GetHealthRequest{})
		if err != nil {
			t.Fatalf("GetHealth through the proxy: got %v (%v), want no error", err, answer)
		}
	})
	t.Run("stream", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer, err := client.Do(ask("/v1/changes", "text/event-stream").WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // only read
		first := make([]byte, 1)
		if _, err := answer.Body.Read(first); err != nil || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("the stream of changes: got %s %v %v, want its first byte at once", answer.Status, answer.Header, err)
		}
	})
}

// proxied starts Caddy with the shipped file in front of a server, and returns its address.
func proxied(t *testing.T, caddy string, running *apptest.Running) string {
	t.Helper()
	_, opsPort, err := net.SplitHostPort(strings.TrimPrefix(running.OpsURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`health_port \d+`).ReplaceAllString(read(t, "Caddyfile"), "health_port "+opsPort)
	file = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n" + file
	path := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(apptest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), caddy, "run", "--adapter", "caddyfile", "--config", path)
	server.Env = append(os.Environ(), "HOME="+t.TempDir(), "DOMAIN=localhost:"+port, "BACKENDS="+strings.TrimPrefix(running.BaseURL, "http://"))
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("caddy: %s", log.String())
		}
	})
	return "https://localhost:" + port
}
