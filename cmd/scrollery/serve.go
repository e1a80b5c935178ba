package main

import (
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
