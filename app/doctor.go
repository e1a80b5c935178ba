package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/app/pluginhost/confine"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/feed"
)

// Migrate migrates the database to this version's schema.
func Migrate(ctx context.Context, cfg Config, log *slog.Logger) error {
	db, err := store.Open(ctx, cfg.store(), log)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// Doctor checks the system for a server with this configuration and prints a line
// for each check. It fails if a check does.
func Doctor(ctx context.Context, cfg Config, out io.Writer) error {
	quiet := slog.New(slog.DiscardHandler)
	checks := []struct {
		name string
		run  func() (string, error)
	}{
		{"data folder", func() (string, error) { return cfg.DataDir, writable(cfg.DataDir) }},
		{"database", func() (string, error) {
			db, err := store.Open(ctx, cfg.store(), quiet)
			if err != nil {
				return "", err
			}
			return db.Dialect(), errors.Join(db.Ping(ctx), db.Close())
		}},
		{"feed folder", func() (string, error) {
			folder := cfg.StageValues["FEED_DIR"]
			if folder == "" || folder == feed.Sample {
				return folder, nil
			}
			_, err := os.ReadDir(folder)
			return folder, err
		}},
		{"plugins", func() (string, error) {
			plugins, err := Plugins(cfg, quiet)
			for _, p := range plugins {
				if p.State == pluginhost.Refused {
					err = errors.Join(err, fmt.Errorf("%s: %s", p.ID, p.Reason))
				}
			}
			return fmt.Sprintf("%d found", len(plugins)), err
		}},
		{"templates", func() (string, error) {
			host, err := pluginhost.New(cfg.Plugins, quiet)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d known", len(cfg.Scrolls.Templates)), errors.Join(host.Usable(templates(cfg)), host.Close())
		}},
		{"confinement", func() (string, error) {
			if limits := confine.Limitations(); len(limits) > 0 {
				return "this system does not enforce the limits on: " + strings.Join(limits, "; "), nil
			}
			return "all limits of plugins are enforced", nil
		}},
	}
	failed := 0
	for _, check := range checks {
		detail, err := check.run()
		if err != nil {
			failed++
			fmt.Fprintf(out, "FAIL %-12s %v\n", check.name, err)
			continue
		}
		fmt.Fprintf(out, "ok   %-12s %s\n", check.name, detail)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(checks))
	}
	return nil
}

// writable checks that files can be written in a folder, and creates it if it is missing.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	trial := filepath.Join(dir, ".doctor")
	if err := os.WriteFile(trial, nil, 0o600); err != nil {
		return err
	}
	return os.Remove(trial)
}
