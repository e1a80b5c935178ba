package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/ops"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/feed"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/ytdlp"
)

// openTimeout bounds the opening of a database that may not be there; maxSkew is how far
// the clocks of two machines may be apart: leases are seconds long.
const (
	openTimeout = 4 * time.Second
	maxSkew     = 2 * time.Second
)

func checkFolders(_ context.Context, cfg Config) []finding {
	scratch := cmp.Or(cfg.Plugins.ScratchDir, os.TempDir())
	all := []finding{
		found("data folder", cfg.DataDir, errors.Join(writable(cfg.DataDir), ops.Space(cfg.DataDir))),
		found("scratch", scratch, errors.Join(writable(scratch), ops.Space(scratch))),
	}
	folder := cfg.StageValues["FEED_DIR"]
	switch folder {
	case "":
		return append(all, finding{"feed folder", unset, "the source feed has no files"})
	case feed.Sample:
		return append(all, finding{"feed folder", passed, "the sample library"})
	}
	_, err := os.ReadDir(folder)
	return append(all, found("feed folder", folder, err))
}

// writable writes a file and has it stored on the disk.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	trial, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	_, err = trial.Write(make([]byte, 64<<10))
	return errors.Join(err, trial.Sync(), trial.Close(), os.Remove(trial.Name()))
}

func checkDatabase(ctx context.Context, cfg Config) []finding {
	if !cfg.hasDatabase() {
		return []finding{{"database", unset, "SQLite; the server makes it when it starts for the first time"}}
	}
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db, err := store.Open(opening, cfg.store(), slog.New(slog.DiscardHandler))
	if err != nil {
		return []finding{found("database", "", err)}
	}
	defer db.Close()
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	schema, err := db.SchemaVersion(asking)
	if err == nil && schema.Current == 0 {
		return []finding{{"database", unset, db.Dialect() + " is empty; the server makes the tables when it starts for the first time"}}
	}
	all := []finding{found("schema", schema.String(), errors.Join(err, schema.Err())), found("database", db.Dialect()+" takes writes", db.Probe(asking))}
	if db.Dialect() == store.SQLite {
		return append(all, found("integrity", "quick_check finds nothing", db.QuickCheck(ctx)))
	}
	server, _, err := db.Server(asking)
	if err != nil {
		return append(all, found("connections", "", err))
	}
	return append(all, checkConnections(server), checkClock(time.Until(server.Now)),
		finding{"integrity", unset, "PostgreSQL's own tools check its data: pg_amcheck, data checksums"})
}

// checkConnections: a process opens its pool and one more. The doctor's own two are used
// now, and free by then.
func checkConnections(server store.Server) finding {
	free, wants := server.MaxConnections-server.Used+2, server.Pool+1
	detail := fmt.Sprintf("a process opens up to %d; %d of %d are free", wants, free, server.MaxConnections)
	if wants > free {
		return finding{"connections", failed, detail}
	}
	return finding{"connections", passed, detail}
}

func checkClock(skew time.Duration) finding {
	detail := fmt.Sprintf("%v from the database's", skew.Abs().Round(time.Millisecond))
	if skew.Abs() > maxSkew {
		return finding{"clock", failed, detail + ": synchronise the clocks of both machines"}
	}
	return finding{"clock", passed, detail}
}

// checkYTDLP is a gap where a part of the program's work fails.
func checkYTDLP(setup ytdlp.Setup) finding {
	switch problems := setup.String(); {
	case setup.Version == "":
		return finding{"yt-dlp", failed, problems}
	case problems != "":
		return finding{"yt-dlp", gap, problems}
	}
	return finding{"yt-dlp", passed, "version " + setup.Version}
}

func checkPlugins(ctx context.Context, cfg Config) []finding {
	quiet := slog.New(slog.DiscardHandler)
	plugins, err := listPlugins(cfg, quiet)
	for _, p := range plugins {
		if p.State == host.Refused {
			err = errors.Join(err, fmt.Errorf("%s: %s", p.ID, p.Reason))
		}
	}
	all := []finding{found("plugins", fmt.Sprintf("%d found", len(plugins)), err)}
	if cfg.Plugins.Settings[ytdlp.Spec().ID]["enabled"] == "yes" {
		all = append(all, checkYTDLP(ytdlp.CheckSetup(ctx)))
	}
	quotas, done := commandQuotas(cfg, quiet)
	cfg.Plugins.Quotas, cfg.Plugins.Tokens = quotas, newStageTokens(cfg)
	h, err := host.New(cfg.Plugins, quiet)
	missing, bound := err, "a cgroup bounds each call"
	if err == nil {
		missing = h.Processes.Missing()
		if why := h.Processes.Ungrouped(); why != nil {
			bound = "no cgroup bounds the memory of a call, so the server checks its processes four times a second, and misses short peaks and the kernel's own memory: " + why.Error()
		}
		all = append(all, checkThemselves(ctx, h, plugins)...)
		err = errors.Join(h.Usable(templates(cfg)), h.Close(), done())
	}
	all = append(all, found("templates", fmt.Sprintf("%d known", len(cfg.Scrolls.Templates)), err))
	if missing != nil {
		missing = fmt.Errorf("no box for plugins, external ones are refused: %w", missing)
	}
	return append(all, found("confinement", "plugins reach what they declare, and no more; "+bound, missing))
}

// checkThemselves has each plugin that is set up, and can, make one cheap request with its settings
// and secrets. A quota that is used up is no fault of the configuration.
func checkThemselves(ctx context.Context, h *host.Host, plugins []host.Plugin) []finding {
	plugins = slices.DeleteFunc(slices.Clone(plugins), func(p host.Plugin) bool { return !p.Checks || p.State != host.Ready })
	all := make([]finding, len(plugins))
	var running sync.WaitGroup
	for i, p := range plugins {
		running.Go(func() {
			line, err := h.Check(ctx, p.ID)
			all[i] = found("plugin "+p.ID, line, err)
			var failure *stage.CallError
			if errors.As(err, &failure) && failure.Failure == stage.SourceQuota {
				all[i].Status = gap
			}
		})
	}
	running.Wait()
	return all
}
