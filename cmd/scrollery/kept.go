package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func keptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kept",
		Short: "Show how many observations of videos all accounts have, by source",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return operate(cmd, func(o *app.Operator) error {
				all, err := o.Held(cmd.Context())
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "SOURCE\tACCOUNTS\tOBSERVATIONS\tOLDEST")
				for _, h := range all {
					fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", h.Source, h.Accounts, h.Readings, time.UnixMilli(h.OldestAt).UTC().Format(time.RFC3339))
				}
				return w.Flush()
			})
		},
	}
}
