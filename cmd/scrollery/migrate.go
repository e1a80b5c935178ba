package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database to this version's schema",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if err := app.Migrate(cmd.Context(), cfg, app.NewLog(os.Stderr, cfg.LogLevel)); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "The database is up to date.")
			return nil
		},
	}
}

func doctorCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Try what a server with these settings needs",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return app.Doctor(cmd.Context(), cfg, os.Stdout, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Println(app.Version())
			return err
		},
	}
}
