package app

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/keys"
)

// probeTimeout bounds the checks of /readyz.
const probeTimeout = 2 * time.Second

// Routes are all the addresses that the server answers.
type Routes struct {
	mux      *api.Mux
	checkout http.Handler
	webhook  http.Handler
	recovery http.Handler
	db       *store.DB
	host     *pluginhost.Host
	metrics  *prometheus.Registry
	tracing  tracing
	drain    *drain
}

// NewRoutes returns the routes of all modules.
func NewRoutes(mux *api.Mux, checkout checkoutPages, webhook *billing.Webhook, recovery *keys.RecoveryPage, db *store.DB, host *pluginhost.Host, metrics *prometheus.Registry, tracing tracing, drain *drain) *Routes {
	return &Routes{mux: mux, checkout: checkout, webhook: webhook, recovery: recovery, db: db, host: host, metrics: metrics, tracing: tracing, drain: drain}
}

// Handler serves the API on every path that own does not report.
func (r *Routes) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/checkout/", r.checkout)
	mux.Handle(billing.WebhookPath, r.webhook)
	mux.Handle(keys.LinkPath, r.recovery)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", r.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(r.metrics, promhttp.HandlerOpts{}))
	operations := r.mux.Handler()
	if r.tracing != nil {
		operations = r.tracing(operations)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if own(request.URL.Path) {
			mux.ServeHTTP(w, request)
			return
		}
		operations.ServeHTTP(w, request) // not within ServeMux, which would redirect unclean paths
	})
}

// own reports whether the path is not part of the API.
func own(path string) bool {
	return path == "/livez" || path == "/readyz" || path == "/metrics" || path == billing.WebhookPath || strings.HasPrefix(path, "/checkout/") || strings.HasPrefix(path, keys.LinkPath)
}

// ready reports whether the process can work: the database answers. It lists the
// plugins that are known to be refused or paused, and calls none of them.
func (r *Routes) ready(w http.ResponseWriter, request *http.Request) {
	if r.drain.begun.Load() {
		plain(w, http.StatusServiceUnavailable, "stopping\n")
		return
	}
	ctx, cancel := context.WithTimeout(request.Context(), probeTimeout)
	defer cancel()
	if err := r.db.Ping(ctx); err != nil {
		plain(w, http.StatusServiceUnavailable, "database: does not answer\n")
		return
	}
	text := "ok\n"
	for _, plugin := range r.host.Known() {
		if plugin.State == pluginhost.Resting || plugin.State == pluginhost.Refused {
			text += "plugin " + plugin.ID + ": " + string(plugin.State) + "\n"
		}
	}
	plain(w, http.StatusOK, text)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
