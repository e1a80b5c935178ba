package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// serverTimeouts bound what a slow or silent client can hold. There is no write
// timeout: streams last as long as their scroll.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 64 << 10
)

// Server is the one HTTP server: REST, Connect, gRPC and gRPC-Web over HTTP/1.1
// and cleartext HTTP/2, checkout pages, probes and metrics.
type Server struct {
	http *http.Server
	log  *slog.Logger
	// address is where it listens, known once it has started.
	address net.Addr
	failed  chan error
}

// NewServer returns a server that is not listening yet.
func NewServer(cfg Config, routes *Routes, log *slog.Logger) *Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &Server{
		http: &http.Server{
			Addr:              cfg.Addr,
			Handler:           routes.Handler(),
			Protocols:         protocols,
			ReadHeaderTimeout: readHeaderTimeout,
			ReadTimeout:       readTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
		log:    log,
		failed: make(chan error, 1),
	}
}

// Start listens; it returns once connections are accepted.
func (s *Server) Start(ctx context.Context) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", s.http.Addr)
	if err != nil {
		return err
	}
	s.address = listener.Addr()
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	s.log.Info("listening", "address", s.address.String())
	return nil
}

// Stop lets running requests finish until ctx ends, then cuts them off.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return s.http.Close()
	}
	return nil
}

// Address is where the server listens; nil before Start.
func (s *Server) Address() net.Addr { return s.address }

// Failed delivers the error of a server that stopped by itself.
func (s *Server) Failed() <-chan error { return s.failed }
