package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

// readyCommand is the health check of containers, whose image has no HTTP client.
func readyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ready",
		Short: "Ask the server of this machine whether it can work",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return app.Ready(cmd.Context(), cfg, os.Stdout)
		},
	}
}

// consoleCommand prints the way into the operator's page.
func consoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "console",
		Short: "Print a one-time link to the operator's page of the server on this machine",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			link, err := app.OperatorLink(cfg)
			if err == nil {
				_, err = fmt.Fprintf(os.Stdout, "Open the operator's page (works once, within ten minutes):\n  %s\n", link)
			}
			return err
		},
	}
}

func serveCommand() *cobra.Command {
	var sample bool
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API and work on scrolls",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if !sample {
				return app.Serve(cmd.Context(), cfg, app.NewLog(os.Stderr, cfg.LogLevel))
			}
			return app.ServeSample(cmd.Context(), cfg, os.Stdout, os.Stderr)
		},
	}
	command.Flags().BoolVar(&sample, "sample", false, "create a fictional sample library and print a key for it")
	return command
}
