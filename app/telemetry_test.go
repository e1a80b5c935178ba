package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

func TestRequestsAreTracedWhereACollectorIsNamed(t *testing.T) {
	spans := make(chan string, 16)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spans <- r.URL.Path }))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	running := apptest.Start(t)
	if answer := running.Anonymous().Do(t, "GET /v1/health", ""); answer.Status != http.StatusOK {
		t.Fatalf("health answered %d, want %v", answer.Status, http.StatusOK)
	}
	select {
	case path := <-spans:
		if path != "/v1/traces" {
			t.Errorf(`the collector was called at %s, want "/v1/traces"`, path)
		}
	case <-time.After(2 * time.Minute):
		t.Error("got no span at the collector within 2 min, want one")
	}
}
