package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"syscall"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/policy"
)

// reloader takes the settings and secrets of plugins, and the plugins of the plugin folder, into
// a service that runs. All else needs a restart.
type reloader struct {
	host   *host.Host
	policy *policy.Service
	quotas host.Quotas
	log    *slog.Logger

	checking sync.Mutex // held during a check

	mu  sync.Mutex
	cfg Config // as it was read, with what was taken since
}

// reloaded is what reading the configuration again did.
type reloaded struct {
	// Plugins came, changed or went.
	Plugins []string `json:"plugins"`
	// Restart names what was changed and is not in force before the server is started again.
	Restart []string `json:"restart"`
}

// reload reads the configuration again from where it was read. If that fails, or if what it says
// of plugins cannot be, nothing is changed. Calls of plugins that run end as they began.
func (r *reloader) reload(ctx context.Context) (reloaded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, err := r.take()
	if err != nil {
		r.log.ErrorContext(ctx, "settings were not read again", "error", err)
		return reloaded{}, err
	}
	r.log.InfoContext(ctx, "settings were read again", "plugins", done.Plugins, "need_restart", done.Restart)
	return done, nil
}

// check has a plugin check itself with the settings that are in force, one at a time.
func (r *reloader) check(ctx context.Context, plugin string) (Checked, error) {
	if !r.checking.TryLock() {
		return Checked{}, errors.New("another check is running")
	}
	defer r.checking.Unlock()
	r.mu.Lock()
	cfg := r.cfg
	r.mu.Unlock()
	counted := &operatorQuotas{open: func(context.Context) host.Quotas { return r.quotas }}
	return checkConnection(ctx, cfg, counted, plugin, slog.New(slog.DiscardHandler))
}

func (r *reloader) take() (done reloaded, err error) {
	if r.cfg.again == nil {
		return reloaded{}, fmt.Errorf("the configuration was not read from a file or the environment")
	}
	next, err := r.cfg.again()
	if err != nil {
		return reloaded{}, err
	}
	for _, name := range r.policy.Agreements() { // what is kept and what is read follow it together
		if (next.StageValues[name] == "yes") != (r.cfg.StageValues[name] == "yes") {
			return reloaded{}, fmt.Errorf("%s%s changes what is kept how long: restart the server", Prefix, name)
		}
	}
	if done.Plugins, err = r.host.Reload(next.Plugins, append(templates(r.cfg), briefTemplate(r.cfg))); err != nil {
		return reloaded{}, err
	}
	done.Restart = r.cfg.differs(next)
	r.cfg.StageValues, r.cfg.Plugins.Settings, r.cfg.Plugins.Secrets = next.StageValues, next.Plugins.Settings, next.Plugins.Secrets
	return done, nil
}

// differs returns the keys of the configuration file whose values are others, but for those of
// stages and plugins that Reload takes.
func (c *Config) differs(next Config) (names []string) {
	bare := func(p host.Config) host.Config {
		p.Settings, p.Secrets, p.Variables, p.Builtins, p.Late = nil, nil, nil, nil, nil
		return p
	}
	before, after := *c, next
	before.Plugins, after.Plugins = bare(before.Plugins), bare(after.Plugins)
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range b.NumField() {
		name := strings.Split(b.Type().Field(i).Tag.Get("yaml"), ",")[0]
		if name != "" && name != "-" && !reflect.DeepEqual(b.Field(i).Interface(), a.Field(i).Interface()) {
			names = append(names, name)
		}
	}
	return names
}

// reloadOnHangup reads the configuration again at each SIGHUP until ctx ends.
func (s *Service) reloadOnHangup(ctx context.Context) (stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP)
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
				_, _ = s.reloader.reload(ctx) // it logs its failure
			}
		}
	}()
	return func() {
		signal.Stop(asked)
		cancel()
		<-ended
	}
}
