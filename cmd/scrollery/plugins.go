package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func pluginsCommand() *cobra.Command {
	return group("plugins", "List and check stage plugins", pluginsList(), pluginsCheck())
}

func pluginsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins that a server would use, and those that it refuses",
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
		Short: "Try anybody's plugin against the protocol's rules",
		Args:  oneArg("the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.CheckPlugin(cmd.Context(), args[0], os.Stdout)
		},
	}
}
