package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/pluginhost/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

func pluginsCommand() *cobra.Command {
	return group("plugins", "List, check, pin and create stage plugins", pluginsList(), pluginsCheck(), pluginsPin(), pluginsNew())
}

func pluginsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins that a server uses or refuses",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			plugins, err := app.Plugins(cfg, app.NewLog(os.Stderr, cfg.LogLevel))
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tKIND\tVERSION\tSTATE\tPLATFORMS\tREASON")
			for _, p := range plugins {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.Kind, p.Version, p.State, strings.Join(p.Platforms, ","), p.Reason)
			}
			return w.Flush()
		},
	}
}

func pluginsCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check BINARY",
		Short: "Check a plugin against the rules of the protocol",
		Args:  oneArg("the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.CheckPlugin(cmd.Context(), args[0], os.Stdout)
		},
	}
}

func pluginsPin() *cobra.Command {
	var manifest string
	command := &cobra.Command{
		Use:   "pin BINARY",
		Short: "Write a plugin's hash into its manifest, and print the rights that it requests",
		Args:  oneArg("the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.PinPlugin(cmd.Context(), args[0], manifest, os.Stdout)
		},
	}
	command.Flags().StringVar(&manifest, "manifest", "", "the manifest (default: plugin.yaml beside the binary)")
	return command
}

func pluginsNew() *cobra.Command {
	var plan kit.Plan
	var kind string
	command := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a plugin: source, test, Makefile, manifest",
		Args:  oneArg("a name for the plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			plan.Name, plan.Kind = args[0], stage.Kind(kind)
			if plan.Dir == "" {
				plan.Dir = plan.Name
			}
			return app.NewPlugin(plan, os.Stdout)
		},
	}
	command.Flags().StringVar(&kind, "kind", string(stage.SourceKind), "source, screen or evidence")
	command.Flags().StringVar(&plan.Dir, "dir", "", "an empty or new folder (default: the name)")
	command.Flags().StringVar(&plan.Replace, "replace", "", "build against this checkout of Scrollery")
	return command
}
