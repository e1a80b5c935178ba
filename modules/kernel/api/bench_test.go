package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkPage asks for a page that is in memory, at a client's rate and far beyond it.
func BenchmarkPage(b *testing.B) {
	bundle := setup(b, func(c *api.Config) { c.RateLimit = true })
	held := bundle.mux.Held("page.bench", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	request := httptest.NewRequest(http.MethodGet, "/docs", http.NoBody)
	for b.Loop() {
		held.ServeHTTP(httptest.NewRecorder(), request)
	}
}

// BenchmarkHealth sets a whole request over a socket against a bare handler that
// writes the same body, in the same run: ratio is CPU, and its bar is 1.2.
func BenchmarkHealth(b *testing.B) {
	bundle := setup(b)
	bundle.fake.do = func(context.Context, proto.Message) (proto.Message, error) {
		return &scrolleryv1.GetHealthResponse{Status: "ok"}, nil
	}
	quiet := &discard{}
	cfg := api.Defaults()
	cfg.ClientRate, cfg.ClientBurst = 1e6, 1e6 // counted, never refused
	mux, err := api.New(cfg, bundle, quiet, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		b.Fatal(err)
	}
	api.Unary(mux, "GetHealth", func(context.Context, *scrolleryv1.GetHealthRequest) (*scrolleryv1.GetHealthResponse, error) {
		return &scrolleryv1.GetHealthResponse{Status: "ok"}, nil
	})
	floor := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	})
	request := func(server *httptest.Server) {
		response, err := server.Client().Get(server.URL + "/v1/health")
		if err != nil {
			b.Fatal(err)
		}
		if body, _ := io.ReadAll(response.Body); string(body) != `{"status":"ok"}` {
			b.Fatalf("%d %s, want %q", response.StatusCode, body, `{"status":"ok"}`)
		}
		_ = response.Body.Close()
	}
	servers := [2]*httptest.Server{httptest.NewServer(floor), httptest.NewServer(mux.Handler())}
	var spent [2]time.Duration
	for b.Loop() {
		for i, server := range servers {
			started := cpu()
			for range 200 {
				request(server)
			}
			spent[i] += cpu() - started
		}
	}
	for _, server := range servers {
		server.Close()
	}
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
	b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N)/200, "floor-µs")
}

type discard struct{}

func (*discard) Record(context.Context, api.Event) error { return nil }

// BenchmarkKernel is the kernel's own part of a request, without a socket.
func BenchmarkKernel(b *testing.B) {
	bundle := setup(b)
	handler := bundle.mux.Handler()
	request := httptest.NewRequest("GET", "/v1/rules", nil)
	request.Header.Set("Authorization", "Bearer good")
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
}

// BenchmarkStart is what the kernel adds to a cold start.
func BenchmarkStart(b *testing.B) {
	bundle := setup(b)
	for b.Loop() {
		fresh := *bundle
		fresh.mux, _ = api.New(api.Defaults(), bundle, bundle.events, slog.New(slog.NewJSONHandler(io.Discard, nil)))
		fresh.mount()
	}
}
