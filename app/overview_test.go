package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
)

// operatorConfig is a configuration with the page of the operator, in a new data folder.
func operatorConfig(t *testing.T) app.Config {
	t.Helper()
	cfg := app.Defaults()
	cfg.Addr, cfg.OpsAddr, cfg.DataDir, cfg.OpsPage = "127.0.0.1:0", "127.0.0.1:0", t.TempDir(), true
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestALinkOfTheOperatorMakesNoKey(t *testing.T) {
	t.Parallel()
	cfg := operatorConfig(t)
	cfg.OpsAddr = "0.0.0.0:8081"
	if link, err := app.OperatorLink(cfg); err == nil {
		t.Errorf("got %s before the server made its key, want an error", link)
	}
	if made, err := filepath.Glob(filepath.Join(cfg.DataDir, "*")); len(made) > 0 || err != nil {
		t.Errorf("the command made %v, %v, want no made and no error", made, err)
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, "secret.key"), []byte("a key of thirty-two bytes or more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link, err := app.OperatorLink(cfg)
	if err != nil || !strings.HasPrefix(link, "http://localhost:8081/operator/#code=") {
		t.Errorf("got %q, %v, want a link to this machine", link, err)
	}
	cfg.OpsAddr = "127.0.0.1:0"
	if link, err := app.OperatorLink(cfg); err == nil {
		t.Errorf("got %s for a port that the server picks, want an error", link)
	}
}

func TestAServerWithoutTheConsoleHasNoPageOfTheOperator(t *testing.T) {
	t.Parallel()
	cfg := operatorConfig(t)
	log := slog.New(slog.DiscardHandler)
	if _, err := app.StartWithoutConsole(t.Context(), cfg, log); err == nil || !strings.Contains(err.Error(), "without the console") {
		t.Errorf("got the error %v, want one of the console", err)
	}
	cfg.OpsPage = false
	service, err := app.StartWithoutConsole(t.Context(), cfg, log)
	if err != nil {
		t.Fatalf("after a failed start another one fails: %v", err)
	}
	if err := service.Stop(); err != nil {
		t.Error(err)
	}
}
