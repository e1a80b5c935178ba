package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func scrollsCommand() *cobra.Command {
	return group("scrolls", "List and cancel scrolls", scrollsList(), scrollsCancel())
}

func scrollsList() *cobra.Command {
	var email string
	command := &cobra.Command{
		Use:   "list --email A",
		Short: "List an account's scrolls, newest first",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if email == "" {
				return fmt.Errorf("%w: --email is needed", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				scrolls, err := o.Scrolls(cmd.Context(), email)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tSTATUS\tVIDEOS\tFAILURE\tCREATED")
				for _, scroll := range scrolls {
					fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", scroll.ID, scroll.Status, scroll.Videos, scroll.Failure, scroll.Created.Format(time.RFC3339))
				}
				return w.Flush()
			})
		},
	}
	command.Flags().StringVar(&email, "email", "", "address of the account")
	return command
}

func scrollsCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a scroll that has not ended",
		Args:  oneArg("the id of a scroll"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error { return o.CancelScroll(cmd.Context(), args[0]) })
		},
	}
}
