package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/scrollery/scrollery/app/pluginhost"
	sandboxplugin "github.com/scrollery/scrollery/plugins/sandbox"
)

// RunPlugin becomes a plugin's process where args, as in os.Args, ask for one;
// it does not return then. It must be called before anything else.
func RunPlugin(args []string) {
	pluginhost.Dispatch(args, Stages(), pluginhost.Main{ID: sandboxplugin.ID, Serve: sandboxplugin.Main})
}

// Plugins lists what a server with this configuration would use and refuse.
func Plugins(cfg Config, log *slog.Logger) ([]pluginhost.Plugin, error) {
	host, err := pluginhost.New(cfg.Plugins, log)
	if err != nil {
		return nil, err
	}
	return host.List(), host.Close()
}

// CheckPlugin tries a binary against the protocol's rules, and prints a line a check.
func CheckPlugin(ctx context.Context, path string, out io.Writer) error {
	report, err := pluginhost.Check(ctx, path)
	if err != nil {
		return err
	}
	for _, check := range report.Checks {
		if check.Err != nil {
			fmt.Fprintf(out, "FAIL %s: %v\n", check.Name, check.Err)
			continue
		}
		fmt.Fprintf(out, "ok   %s\n", check.Name)
	}
	if !report.OK() {
		fmt.Fprint(out, report.Output)
		return errors.New("the plugin does not keep the protocol's rules")
	}
	return nil
}
