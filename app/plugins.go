package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/app/host/kit"
	agentplugin "github.com/scrollery/scrollery/plugins/programs/agent"
	readerplugin "github.com/scrollery/scrollery/plugins/programs/reader"
	sandboxplugin "github.com/scrollery/scrollery/plugins/programs/sandbox"
	"github.com/scrollery/scrollery/plugins/recipe"
	"github.com/scrollery/scrollery/plugins/ytdlp"
)

// RunPlugin serves a built-in plugin if args, as in os.Args, name one; it does not
// return then. Call it before anything else.
func RunPlugin(args []string) {
	host.Dispatch(args, append(Stages(), recipe.Server()),
		host.Main{ID: sandboxplugin.ID, Serve: sandboxplugin.Main},
		host.Main{ID: agentplugin.ID, Serve: agentplugin.Main},
		host.Main{ID: readerplugin.ID, Serve: readerplugin.Main})
}

// Plugins lists the plugins that a server with this configuration uses or refuses, with
// what is missing of the programs that they run.
func Plugins(cfg Config, log *slog.Logger) ([]host.Plugin, error) {
	plugins, err := listPlugins(cfg, log)
	advise(context.Background(), plugins)
	rest(context.Background(), cfg, plugins)
	return plugins, err
}

func listPlugins(cfg Config, log *slog.Logger) ([]host.Plugin, error) {
	host, err := host.New(cfg.Plugins, log)
	if err != nil {
		return nil, err
	}
	return host.List(), host.Close()
}

// advise adds to the reason of a plugin what of the programs that it runs is missing or too
// old, and the command that installs it.
func advise(ctx context.Context, plugins []host.Plugin) {
	for i := range plugins {
		if p := &plugins[i]; p.Builtin && p.ID == ytdlp.Spec().ID {
			p.Reason = strings.Join(slices.DeleteFunc([]string{p.Reason, ytdlp.CheckSetup(ctx).String()}, func(s string) bool { return s == "" }), "; ")
		}
	}
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
			fmt.Fprintf(out, "FAIL %s: %s\n", check.Name, host.Printable(check.Err.Error()))
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
