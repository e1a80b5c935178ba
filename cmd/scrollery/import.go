package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func importCommand() *cobra.Command {
	var email string
	command := &cobra.Command{
		Use:   "import --email A FILE…",
		Short: "Load feed files into an account's library",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%w: name at least one file", errUse)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if email == "" {
				return fmt.Errorf("%w: --email is needed", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				report, err := o.Import(cmd.Context(), email, args)
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%d videos read, %d new, %d seen again, %d lines skipped\n", report.Read, report.New, report.Reobserved, report.Skipped)
				return nil
			})
		},
	}
	command.Flags().StringVar(&email, "email", "", "address of the account")
	return command
}
