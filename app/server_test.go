package app_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

func TestPortZero(t *testing.T) {
	t.Parallel()
	checkout := func(t *testing.T, running *apptest.Running) string {
		t.Helper()
		var opened struct{ URL string }
		running.Anonymous().Get(t, `POST /v1/subscribe {"billingInterval":"monthly","plan":"pro"}`, &opened)
		return opened.URL
	}
	t.Run("checkout addresses have the port that was found", func(t *testing.T) {
		t.Parallel()
		running := apptest.Start(t, func(cfg *app.Config) { cfg.Addr = "127.0.0.1:0" })
		address := checkout(t, running)
		if !strings.HasPrefix(address, running.BaseURL+"/checkout/") || strings.Contains(address, ":0/") {
			t.Errorf("checkout at %s, want it below %s", address, running.BaseURL)
		}
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s answered %d, want 200", address, response.StatusCode)
		}
	})
	t.Run("a configured base address stays", func(t *testing.T) {
		t.Parallel()
		cfg := app.Defaults()
		cfg.Addr, cfg.OpsAddr, cfg.BaseURL, cfg.DataDir = "127.0.0.1:0", "127.0.0.1:0", "https://videos.example.com", t.TempDir()
		if err := cfg.Complete(); err != nil {
			t.Fatal(err)
		}
		service, err := app.Start(t.Context(), cfg, app.NewLog(t.Output(), cfg.LogLevel))
		if err != nil {
			t.Fatal(err)
		}
		if got := service.BaseURL(); got != "https://videos.example.com" {
			t.Errorf(`base address %s, want "https://videos.example.com"`, got)
		}
		if err := service.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStopWhileStartingIsNoFailure(t *testing.T) {
	t.Parallel()
	cfg := app.Defaults()
	cfg.DataDir, cfg.Addr, cfg.OpsAddr = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := app.Serve(ctx, cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}
