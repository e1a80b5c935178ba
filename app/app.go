// Package app composes the modules. It is the only package that imports them all.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/ops"
	"github.com/scrollery/scrollery/docs"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/admission"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/briefs"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/changes/webhooks"
	"github.com/scrollery/scrollery/modules/collections"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/modules/policy"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/rules/preview"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/shares"
	"github.com/scrollery/scrollery/modules/site"
	"github.com/scrollery/scrollery/modules/sources"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/modules/workspace"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	startTimeout = time.Minute
	// stopTimeout is how long all of the stop may take, after the lame-duck phase.
	stopTimeout = 20 * time.Second
	// drainTimeout is how long running requests and jobs get of it to finish. The rest
	// is for the jobs that were cut short: they give their work back.
	drainTimeout = 12 * time.Second
)

// modules is the graph without server and workers: the operator's commands use it
// beside a running server. database provides the database.
func modules(cfg Config, log *slog.Logger, database fx.Option) fx.Option {
	return fx.Options(
		fx.NopLogger, // events of the graph do not help an operator
		fx.StartTimeout(startTimeout),
		fx.StopTimeout(stopTimeout),
		fx.Supply(cfg, log),
		fx.Provide(
			func(c Config) store.Config { return c.store() },
			func(c Config) keys.Config { return c.Keys },
			func(c Config) billing.Config { return c.Billing },
			func(c Config) usage.Config { return c.Usage },
			func(c Config) scrolls.Config { return c.Scrolls },
			libraryConfig,
			func(c Config) imports.Config { return c.Imports },
			func(c Config) sandbox.Config { return c.Sandbox },
			func(c Config) briefs.Config { return c.Briefs },
			func() fs.FS { return docs.Pages },
			sitePlans,
			func(c Config) account.Config {
				return account.Config{BaseURL: c.BaseURL, Limits: account.Limits{
					Rate: c.Protocols.AccountRate, Burst: c.Protocols.AccountBurst, AtOnce: c.Protocols.MaxAccountCalls,
					StreamsPerKey: c.Protocols.MaxStreams, Streams: c.Protocols.MaxAccountStreams,
				}}
			},
			func(c Config) webhooks.Config { return c.Webhooks },
			func(c Config) shares.Config { return shares.Config{Off: c.Shares.Off, BaseURL: c.BaseURL} },
			func(c Config) sources.Config { return sources.Config{NoOwnKeys: !c.OwnKeys} },
			func(c Config) oauth.Config { return oauth.Config{BaseURL: c.BaseURL, Transport: c.ClientDocuments} },
			consoleFiles,
			policyConfig,
		),
		bindings,
		fx.Provide(openHost),
		keptApart,
		database,
		keys.Module,
		billing.Module,
		credits.Module,
		quota.Module,
		workspace.Module,
		rules.Module,
		preview.Module,
		scrolls.Module,
		imports.Module,
		library.Module,
		collections.Module,
		shares.Module,
		sources.Module,
		usage.Module,
		sandbox.Module,
		briefs.Module,
		site.Module,
		console.Module,
		changes.Module,
		account.Module,
		policy.Module,
		webhooks.Module,
		oauth.Module,
	)
}

// graph is the whole service.
func graph(cfg Config, log *slog.Logger, db *store.DB) fx.Option {
	return fx.Options(
		modules(cfg, log, store.Opened(db)), jobs.Module,
		admission.Module,
		system,
		observed,
		fx.Provide(newOverview, newTracing, newMux, newAgents, newDrain, NewRoutes, NewServer),
		fx.Invoke(learnStages, runRoles),
	)
}

// libraryConfig is the library's part of the configuration.
func libraryConfig(c Config) library.Config {
	part := c.Library
	part.SecretKey = c.SecretKey
	return part
}

// sitePlans are the plans on sale, as the landing page shows them.
func sitePlans(c Config) (plans []site.Plan) {
	dollars := func(cents int64) string {
		return strings.TrimSuffix(fmt.Sprintf("$%d.%02d", cents/100, cents%100), ".00")
	}
	for _, plan := range []billing.Plan{c.Billing.Standard, c.Billing.Pro} {
		plans = append(plans, site.Plan{Label: plan.Label, Month: dollars(plan.MonthlyCents), Year: dollars(plan.AnnualCents), Videos: plan.MaxFeedSize})
	}
	return plans
}

// policyConfig is the policy's part of the configuration, with what the modules do.
func policyConfig(c Config) policy.Config {
	part := c.Policy
	part.Lives, part.EraseAfter = lives(c), account.Grace
	part.Accepted = map[string]bool{}
	for variable, value := range c.StageValues {
		part.Accepted[variable] = value == "yes"
	}
	return part
}

// holdings implements the policy's need of the library.
type holdings struct{ removal.Holdings }

func (h holdings) Held(ctx context.Context) (all []policy.Held, err error) {
	held, err := h.Holdings.Held(ctx)
	for _, one := range held {
		all = append(all, policy.Held{Source: one.Source, Observations: one.Readings, OldestAt: one.OldestAt})
	}
	return all, err
}

// retention is what the library deletes for its age.
func retention(p *policy.Service) (all []videos.Retention) {
	const day = 24 * time.Hour
	for _, end := range p.Ends() {
		all = append(all, videos.Retention{
			Source: end.Source, Platform: end.Platform, Keep: time.Duration(end.Days) * day, Refresh: time.Duration(end.RefreshFrom) * day, Texts: end.Deletes == policy.Texts,
		})
	}
	return all
}

// thinning is how readings grow fewer.
func thinning(p *policy.Service) videos.Thinning {
	const day = 24 * time.Hour
	r := p.Readings()
	return videos.Thinning{All: time.Duration(r.All) * day, Daily: time.Duration(r.Daily) * day, Except: r.Except}
}

// consoleFiles are nil in a binary without the console.
func consoleFiles(c Config) (console.Assets, error) {
	if c.Console != nil {
		return c.Console, nil
	}
	return console.Built()
}

func openHost(lifecycle fx.Lifecycle, cfg Config, quotas host.Quotas, memory host.Memory, accounts host.Accounts, log *slog.Logger) (*host.Host, error) {
	part := cfg.Plugins
	part.Quotas, part.Tokens, part.Memories, part.Accounts = quotas, newStageTokens(cfg), memory, accounts
	host, err := host.New(part, log)
	if err != nil {
		return nil, err
	}
	if err := host.Usable(append(templates(cfg), briefTemplate(cfg))); err != nil {
		return nil, errors.Join(err, host.Close())
	}
	lifecycle.Append(fx.StopHook(host.Close))
	return host, nil
}

// templates are the stages and settings that the templates of scrolls name.
func templates(cfg Config) (all []host.Template) {
	for name, t := range cfg.Scrolls.Templates {
		all = append(all, host.Template{Name: name, Settings: t.Settings, Stages: map[stage.Kind][]string{
			stage.PlanKind: t.Plans, stage.SourceKind: t.Sources, stage.ScreenKind: t.Screens, stage.EvidenceKind: t.Evidence,
		}})
	}
	return all
}

// briefTemplate has the stage of briefs, for the same check.
func briefTemplate(cfg Config) host.Template {
	t := host.Template{Name: "of briefs"}
	if cfg.Briefs.Stage != "" {
		t.Stages = map[stage.Kind][]string{stage.BriefKind: {cfg.Briefs.Stage}}
	}
	return t
}

// mounted are the operations that the modules provide.
type mounted struct {
	fx.In
	Operations []api.Operations `group:"operations"`
}

// newMux mounts every operation, and refuses to start with one missing.
func newMux(cfg Config, admit api.Admitter, record api.Recorder, metrics *ops.Metrics, db *store.DB, needs mounted, log *slog.Logger) (*api.Mux, error) {
	part := cfg.Protocols
	part.Lost, part.BulkReader = store.Unable, store.BulkReader
	if rates := usage.NewRates(db); rates != nil {
		part.Leases = rates
	}
	part.Observe = func(o api.Observation) {
		metrics.Request(o.Op, o.Protocol, o.Code, o.Cause != nil && !errors.Is(o.Cause, context.Canceled), o.Duration)
		db.Suspect(o.Cause)
	}
	mux, err := api.New(part, admit, record, log)
	if err != nil {
		return nil, err
	}
	for _, operations := range needs.Operations {
		operations(mux)
	}
	if missing := mux.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("no module serves %v", missing)
	}
	return mux, mux.Err()
}

// learnStages gets the specs of external stages before a scroll or a probe needs them.
func learnStages(lifecycle fx.Lifecycle, host *host.Host) {
	lifecycle.Append(fx.StartHook(host.Learn))
}

// runRoles starts the roles of this process. Both stop at the same time: neither waits
// for the work of the other.
func runRoles(lifecycle fx.Lifecycle, cfg Config, db *store.DB, host *host.Host, queue *jobs.Queue, recorder *usage.Recorder, server *Server, mux *api.Mux, ready *ops.Readiness, drain *drain) {
	start := func(ctx context.Context) error {
		if cfg.API() {
			server.Start()
		}
		ready.Opened(probed{db, recorder}, readyFolders(cfg), readyNotes(host))
		if cfg.Worker() {
			return queue.Start(ctx)
		}
		return nil
	}
	stop := func(ctx context.Context) error {
		ctx, cancel := drain.bound(ctx)
		defer cancel()
		queued := make(chan error, 1)
		go func() { queued <- queue.Stop(ctx) }()
		mux.EndStreams()
		return errors.Join(server.Stop(ctx), <-queued)
	}
	lifecycle.Append(fx.Hook{OnStart: start, OnStop: stop})
}

// Service is a running app.
type Service struct {
	graph   *fx.App
	ops     *ops.Server
	server  *Server
	routes  *Routes
	plugins *host.Host
	keys    *keys.Service
	credits *credits.Service
	console *console.Console
	codes   *console.Codes
	drain   *drain
	baseURL string
	page    *overview
	// reloader takes changed settings of plugins.
	reloader *reloader
}

// Start opens the database, brings it to this version's schema and serves. While
// another process changes the schema it waits until ctx ends.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
	return start(ctx, cfg, log)
}

// start takes the values with which a test replaces those of modules.
func start(ctx context.Context, cfg Config, log *slog.Logger, instead ...fx.Option) (*Service, error) {
	log.Info("starting", "version", Version(), "database", cfg.databaseName(), "data_dir", cfg.DataDir, "roles", cfg.Roles)
	opsListener, err := cfg.listenOps(ctx)
	if err != nil {
		return nil, err
	}
	metrics, ready := ops.NewMetrics(), new(ops.Readiness)
	s := &Service{ops: ops.Serve(opsListener, ready, metrics, log)}
	log.Info("operations port is open", "address", s.ops.Address().String())
	go api.Prepare()
	db, err := openMigrated(ctx, cfg, log) // not among the start hooks, which have a deadline
	if err != nil {
		return nil, errors.Join(err, s.ops.Close())
	}
	listener, err := cfg.listen(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close(), s.ops.Close())
	}
	s.baseURL = cfg.BaseURL
	var kept *removals.Log
	var removing *removal.Service
	var accounts *account.Service
	var operated *operator.Service
	if cfg.OpsPage {
		instead = append(instead, operator.Module, fx.Provide(operatorNeeds), fx.Populate(&operated))
	}
	// Not in the graph, whose configuration has observers too: it compares what was read.
	s.reloader = &reloader{log: log, cfg: cfg}
	s.graph = fx.New(graph(cfg, log, db), fx.Provide(func() net.Listener { return listener }), fx.Supply(metrics, ready), fx.Options(instead...),
		fx.Populate(&kept, &removing, &accounts, &s.server, &s.routes, &s.plugins, &s.keys, &s.credits, &s.console, &s.codes, &s.drain, &s.page, &s.reloader.policy, &s.reloader.quotas))
	s.reloader.host = s.plugins
	if err = cause(s.graph.Err()); err == nil && cfg.OpsPage {
		err = s.page.mount(s.ops, s.console, s.reloader, operated) // before anything runs that would have to end if it fails
	}
	if err == nil { // not among the start hooks, which have a deadline
		err = mergeRemovals(ctx, kept, removing, accounts)
	}
	if err != nil {
		err = errors.Join(err, db.Close()) // what starts closes it itself
	} else {
		// A stop does not cut it short: the first hooks may have calls to drain by then.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
		defer cancel()
		err = s.graph.Start(ctx)
	}
	if err != nil && listener != nil {
		_ = listener.Close() // the server may have closed it
	}
	if err != nil {
		return nil, errors.Join(err, s.ops.Close())
	}
	return s, nil
}

// OpsURL is the address of the operations port.
func (s *Service) OpsURL() string { return "http://" + s.ops.Address().String() }

// BaseURL is the address that clients see.
func (s *Service) BaseURL() string { return s.baseURL }

// Handler is the handler of the server.
func (s *Service) Handler() http.Handler { return s.routes.Handler() }

// Stop drains requests and jobs, for at most stopTimeout. Jobs that were cut short run
// again in the next process.
func (s *Service) Stop() error {
	s.drain.begin()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(s.graph.Stop(ctx), s.ops.Close())
}

// serve is Wait of a server that reads its settings again at SIGHUP.
func (s *Service) serve(ctx context.Context) error {
	defer s.reloadOnHangup(ctx)()
	return s.Wait(ctx)
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

// yieldToCalls has work in this process leave processors to the calls that come in.
//
// Go runs on more threads than scrolls can keep busy. With as many as there are processors,
// a few scrolls that compute have all of them, and what comes from the network waits: Go
// looks for it every 10 ms then, and a goroutine that is ready waits its turn. The kernel
// gives a thread that wakes up the processor much sooner. An operator who sets GOMAXPROCS has
// what they set.
func (c *Config) yieldToCalls() {
	const forCalls = 2
	if threads := c.Scrolls.Concurrency + forCalls; os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < threads {
		runtime.GOMAXPROCS(threads)
	}
}

// Serve runs the service until ctx ends. It stays reachable, but not ready, for the
// lame-duck phase, then drains. Another SIGTERM or interrupt cuts both short: what runs is
// given back at once.
func Serve(ctx context.Context, cfg Config, log *slog.Logger) error {
	cfg.yieldToCalls()
	service, err := Start(ctx, cfg, log)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		log.Info("stopped before it served")
		return nil
	}
	if err != nil {
		return err
	}
	err = service.serve(ctx)
	log.Info("stopping")
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	go func() {
		<-again
		log.Info("stopping at once")
		service.drain.hurry()
	}()
	if err == nil {
		service.drain.begin()
		select {
		case <-time.After(cfg.LameDuck):
		case <-service.drain.hurried:
		}
	}
	return errors.Join(err, service.Stop())
}
