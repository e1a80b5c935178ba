package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Run the whole journey on the sample library, over HTTP",
		Long: "Starts a server of its own on scratch data, subscribes, pays in the test checkout,\n" +
			"claims a key, writes a brief and rules, runs three scrolls, and prints hooks, outliers and trends.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return app.Demo(cmd.Context(), cfg, os.Stdout, os.Stderr)
		},
	}
}
