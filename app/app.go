// Package app puts the rooms together. It is the only place that knows them all.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/modules/workspace"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	startTimeout = time.Minute
	// stopTimeout is how long running requests and jobs get to finish.
	stopTimeout = 20 * time.Second
)

// modules is the graph without what listens or works: the operator's commands use
// it beside a running server.
func modules(cfg Config, log *slog.Logger) fx.Option {
	return fx.Options(
		fx.NopLogger, // the graph's own events say nothing to an operator
		fx.StartTimeout(startTimeout),
		fx.StopTimeout(stopTimeout),
		fx.Supply(cfg, log),
		fx.Provide(
			func(c Config) store.Config { return c.store() },
			func(c Config) keys.Config { return c.Keys },
			func(c Config) billing.Config { return c.Billing },
			func(c Config) usage.Config { return c.Usage },
			func(c Config) scrolls.Config { return c.Scrolls },
			func(c Config) library.Config { return c.Library },
			func(c Config) sandbox.Config { return c.Sandbox },
		),
		bindings,
		fx.Provide(openHost),
		store.Module,
		keys.Module,
		billing.Module,
		credits.Module,
		quota.Module,
		workspace.Module,
		rules.Module,
		scrolls.Module,
		library.Module,
		usage.Module,
		sandbox.Module,
	)
}

// graph is the whole service.
func graph(cfg Config, log *slog.Logger) fx.Option {
	return fx.Options(
		modules(cfg, log),
		system,
		fx.Provide(newTracing, newMetrics, newAdmission, newDoor, NewRoutes, NewServer),
		fx.Invoke(learnStages, runQueue, runServer),
	)
}

func openHost(lifecycle fx.Lifecycle, cfg Config, quotas pluginhost.Quotas, log *slog.Logger) (*pluginhost.Host, error) {
	part := cfg.Plugins
	part.Quotas = quotas
	host, err := pluginhost.New(part, log)
	if err != nil {
		return nil, err
	}
	if err := knownStages(cfg.Scrolls.Templates, host); err != nil {
		return nil, errors.Join(err, host.Close())
	}
	lifecycle.Append(fx.StopHook(host.Close))
	return host, nil
}

// knownStages refuses a template that names a stage which nobody installed, or one
// in a place that is not its own. What an external one is turns out later.
func knownStages(templates map[string]scrolls.Template, host *pluginhost.Host) error {
	var faults []error
	for name, template := range templates {
		for kind, ids := range map[stage.Kind][]string{
			stage.PlanKind: template.Plans, stage.SourceKind: template.Sources,
			stage.ScreenKind: template.Screens, stage.EvidenceKind: template.Evidence,
		} {
			for _, id := range ids {
				if !host.Has(id) {
					faults = append(faults, fmt.Errorf("template %s: there is no stage %q; see `scrollery plugins list`", name, id))
				} else if is := host.Builtin(id); is != nil && is.Kind != kind {
					faults = append(faults, fmt.Errorf("template %s: stage %q is for %s, not for %s", name, id, is.Kind, kind))
				}
			}
		}
		for id, settings := range template.Settings {
			is := host.Builtin(id)
			if !host.Has(id) {
				faults = append(faults, fmt.Errorf("template %s: settings of %q: there is no such stage", name, id))
			}
			for setting := range settings {
				if is != nil && !slices.ContainsFunc(is.Settings, func(s stage.Setting) bool { return s.Name == setting }) {
					faults = append(faults, fmt.Errorf("template %s: stage %q has no setting %q", name, id, setting))
				}
			}
		}
	}
	return errors.Join(faults...)
}

// doorNeeds is what the rooms mount on the door.
type doorNeeds struct {
	fx.In
	Operations []api.Operations `group:"operations"`
}

// newDoor mounts every operation, and refuses to start with one missing.
func newDoor(cfg Config, admit api.Admitter, record api.Recorder, metrics *metrics, needs doorNeeds, log *slog.Logger) (*api.Mux, error) {
	part := cfg.Door
	part.Observe = metrics.observe
	mux, err := api.New(part, admit, record, log)
	if err != nil {
		return nil, err
	}
	for _, operations := range needs.Operations {
		operations(mux)
	}
	if missing := mux.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("no room serves %v", missing)
	}
	return mux, mux.Err()
}

// learnStages asks what external stages are before a scroll or a probe wants to know.
func learnStages(lifecycle fx.Lifecycle, host *pluginhost.Host) {
	lifecycle.Append(fx.StartHook(host.Learn))
}

func runQueue(lifecycle fx.Lifecycle, cfg Config, queue *store.Queue) {
	if cfg.Worker() {
		lifecycle.Append(fx.Hook{OnStart: queue.Start, OnStop: queue.Stop})
	}
}

func runServer(lifecycle fx.Lifecycle, cfg Config, server *Server) {
	if cfg.API() {
		lifecycle.Append(fx.Hook{OnStart: server.Start, OnStop: server.Stop})
	}
}

// Service is a running app.
type Service struct {
	graph  *fx.App
	server *Server
	routes *Routes
	keys   *keys.Service
}

// Start opens the database, brings it to this version's schema and serves.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
	return start(ctx, cfg, log)
}

// start takes what a test puts in the place of a room's answer.
func start(ctx context.Context, cfg Config, log *slog.Logger, instead ...fx.Option) (*Service, error) {
	s := &Service{}
	s.graph = fx.New(graph(cfg, log), fx.Options(instead...), fx.Populate(&s.server, &s.routes, &s.keys))
	if err := s.graph.Err(); err != nil {
		return nil, cause(err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.graph.Start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler is what the server answers with.
func (s *Service) Handler() http.Handler { return s.routes.Handler() }

// Stop drains requests and jobs, for at most stopTimeout.
func (s *Service) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.graph.Stop(ctx)
}

// Wait returns when ctx has ended, or with the error of a server that failed.
func (s *Service) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.server.Failed():
		return fmt.Errorf("serve: %w", err)
	}
}

// Serve runs the service until ctx ends, then drains it.
func Serve(ctx context.Context, cfg Config, log *slog.Logger) error {
	service, err := Start(ctx, cfg, log)
	if err != nil {
		return err
	}
	err = service.Wait(ctx)
	log.Info("stopping")
	return errors.Join(err, service.Stop())
}

// metrics counts what the door tells of.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(db *store.DB) (*metrics, *prometheus.Registry) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrollery_requests_total", Help: "Requests by operation, door and outcome.",
		}, []string{"op", "door", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scrollery_request_duration_seconds", Help: "Time from a request's arrival to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 12),
		}, []string{"op"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.duration)
	return m, registry
}

func (m *metrics) observe(o api.Observation) {
	m.requests.WithLabelValues(o.Op, o.Door, o.Code).Inc()
	m.duration.WithLabelValues(o.Op).Observe(o.Duration.Seconds())
}
