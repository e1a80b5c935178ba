package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/plugins/stage"
)

func quotasCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "quotas",
		Short: "Show the use of the quotas of sites",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return operate(cmd, func(o *app.Operator) error {
				all, err := o.Quotas(cmd.Context())
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "PLUGIN\tQUOTA\tUSED\tLIMIT\tWINDOW\tTENANTS\tRENEWED")
				for _, q := range all {
					renewed := "-"
					if !q.RenewsAt.IsZero() {
						renewed = q.RenewsAt.UTC().Format(time.RFC3339)
					}
					used, limit := fmt.Sprint(q.Used), fmt.Sprint(q.Limit)
					if q.Money {
						used, limit = stage.FormatMoney(q.Used)+" USD", stage.FormatMoney(q.Limit)+" USD"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", q.Plugin, q.Name, used, limit, q.Window, q.Tenants, renewed)
				}
				return w.Flush()
			})
		},
	}
}
