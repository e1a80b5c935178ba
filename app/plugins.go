package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/app/pluginhost/conformance"
	"github.com/scrollery/scrollery/app/pluginhost/kit"
	agentplugin "github.com/scrollery/scrollery/plugins/programs/agent"
	sandboxplugin "github.com/scrollery/scrollery/plugins/programs/sandbox"
)

// RunPlugin serves a built-in plugin if args, as in os.Args, name one; it does not
// return then. Call it before anything else.
func RunPlugin(args []string) {
	pluginhost.Dispatch(args, Stages(),
		pluginhost.Main{ID: sandboxplugin.ID, Serve: sandboxplugin.Main},
		pluginhost.Main{ID: agentplugin.ID, Serve: agentplugin.Main})
}

// Plugins lists the plugins that a server with this configuration uses or refuses.
func Plugins(cfg Config, log *slog.Logger) ([]pluginhost.Plugin, error) {
	host, err := pluginhost.New(cfg.Plugins, log)
	if err != nil {
		return nil, err
	}
	return host.List(), host.Close()
}

// RehearsePlugin makes one call of a binary with settings, secrets and input of its author,
// and prints what came out and which rules were broken.
func RehearsePlugin(ctx context.Context, path string, r conformance.Rehearsal, out io.Writer) error {
	return conformance.Rehearse(ctx, path, r, out)
}

// CheckPlugin checks a binary against the rules of the protocol, and prints a line for
// each check.
func CheckPlugin(ctx context.Context, path string, out io.Writer) error {
	report, err := conformance.CheckBinary(ctx, path)
	if err != nil {
		return err
	}
	for _, check := range report.Checks {
		if check.Err != nil {
			fmt.Fprintf(out, "FAIL %s: %s\n", check.Name, pluginhost.Printable(check.Err.Error()))
			continue
		}
		fmt.Fprintf(out, "ok   %s\n", check.Name)
	}
	if !report.OK() {
		fmt.Fprint(out, report.Output)
		return errors.New("the plugin violates the rules of the protocol")
	}
	return nil
}

// NewPlugin creates a plugin, and prints its files. The plugin requires the version of
// the running program, if it is a released one.
func NewPlugin(plan kit.Plan, out io.Writer) error {
	for _, spec := range Stages() {
		if spec.ID == plan.Name {
			return fmt.Errorf("name %q: a stage of that name comes with the binary", plan.Name)
		}
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		plan.Version, plan.Needs = build.Main.Version, map[string]string{}
		for _, module := range build.Deps {
			plan.Needs[module.Path] = module.Version
		}
	}
	files, err := kit.New(plan)
	for _, name := range files {
		fmt.Fprintln(out, filepath.Join(plan.Dir, name))
	}
	return err
}

// PinPlugin writes a binary's hash into its manifest, and prints the rights that the
// plugin requests.
func PinPlugin(ctx context.Context, path, manifest string, out io.Writer) error {
	return kit.Pin(ctx, path, manifest, out)
}
