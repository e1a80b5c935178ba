// Package ops serves the operations port: liveness, readiness and metrics of a process
// of any role. Its answers are for operators, so the port is not public.
package ops

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// timeout bounds each part of a request of the port.
const timeout = 10 * time.Second

// Server answers /livez, /readyz and /metrics.
type Server struct {
	http     *http.Server
	listener net.Listener
	mux      *http.ServeMux
	ended    chan struct{}
	log      *slog.Logger
}

// Serve answers on listener until Close. It is the first thing that a process starts and
// the last that it ends: a process that waits for its database is alive, but not ready.
func Serve(listener net.Listener, ready *Readiness, metrics *Metrics, log *slog.Logger) *Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.Handle("GET /readyz", ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.registry, promhttp.HandlerOpts{}))
	// A proxy that speaks HTTP/2 to the API also checks its health over HTTP/2.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &Server{
		http: &http.Server{
			Protocols: protocols,
			Handler:   mux, ReadHeaderTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: time.Minute,
			MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
		listener: listener, mux: mux, ended: make(chan struct{}), log: log,
	}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the operations port failed", "error", err)
		}
	}()
	return s
}

// Address is where the server listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Mount adds what the port serves below a path.
func (s *Server) Mount(path string, handler http.Handler) { s.mux.Handle(path, handler) }

// Close ends the server. A probe that is answered just then gets a moment to end.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.ended
	return err
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
