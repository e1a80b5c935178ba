package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// serverTimeouts bound what a slow or silent client can hold. There is no write
// timeout, since streams last as long as their scroll; a client that stops reading is
// bounded by package connections.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 64 << 10
	// maxStreams is the most requests at once of a connection over HTTP/2.
	maxStreams = 128
	// endTimeout is how long a handler may run on once its connection is closed.
	endTimeout = 5 * time.Second
)

// Server is the one HTTP server: REST, Connect, gRPC and gRPC-Web over HTTP/1.1
// and cleartext HTTP/2, checkout pages and webhooks. Probes are on the operations port.
type Server struct {
	http     *http.Server
	log      *slog.Logger
	listener net.Listener
	failed   chan error
	handlers sync.WaitGroup
}

// NewServer returns a server that accepts no connection yet; listener is nil in a
// process without the role `api`.
func NewServer(listener net.Listener, cfg Config, routes *Routes, drain *drain, log *slog.Logger) *Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &Server{
		http: &http.Server{
			Protocols:         protocols,
			HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
			ReadHeaderTimeout: readHeaderTimeout,
			ReadTimeout:       readTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
		log:      log,
		listener: cfg.Connections.Limit(listener, cfg.TrustedProxies),
		failed:   make(chan error, 1),
	}
	s.http.Handler = s.counted(drain.closing(routes.Handler()))
	return s
}

// counted lets Stop wait for handlers whose connections it has closed.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Add(1)
		defer s.handlers.Done()
		next.ServeHTTP(w, r)
	})
}

// listenOps opens the operations port.
func (c *Config) listenOps(ctx context.Context) (net.Listener, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.OpsAddr)
	if err != nil {
		return nil, fmt.Errorf("open the operations port (%sOPS_ADDR): %w", Prefix, err)
	}
	return listener, nil
}

// listen opens the address of a process with the role `api`; nil without it. Where
// the port is 0, Addr and a BaseURL that follows from it get the one that was found.
func (c *Config) listen(ctx context.Context) (net.Listener, error) {
	if !c.API() {
		return nil, nil
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil || port != "0" {
		return listener, nil // as it was configured; Listen understood it
	}
	derived := c.BaseURL == "http://"+c.Addr
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	if c.Addr = net.JoinHostPort(host, port); derived {
		c.BaseURL = ""
	}
	if err := c.Complete(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Start accepts connections.
func (s *Server) Start() {
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	s.log.Info("listening", "address", s.listener.Addr().String())
}

// Stop lets running requests finish until ctx ends, then closes their connections. A
// handler that was cut off gets endTimeout to give back what it holds, such as the
// folder of a program, while the database is still open.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	err := s.http.Close()
	ended := make(chan struct{})
	go func() { s.handlers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(endTimeout):
		s.log.Warn("requests are still running", "waited", endTimeout.String())
	}
	return err
}

// Address is where the server listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Failed delivers the error of a server that stopped by itself.
func (s *Server) Failed() <-chan error { return s.failed }
