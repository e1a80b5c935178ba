package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/scrolls"
)

func scrollsCommand() *cobra.Command {
	return group("scrolls", "List, cancel and retry scrolls, and list their verdicts", scrollsList(), scrollsVerdicts(), scrollsCancel(), scrollsRetry())
}

func scrollsList() *cobra.Command {
	var email, status string
	command := &cobra.Command{
		Use:   "list",
		Short: "List the newest 100 scrolls of all accounts, or of one",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if known := []string{"", scrolls.Queued, scrolls.Running, scrolls.Completed, scrolls.Failed, scrolls.Cancelled}; !slices.Contains(known, status) {
				return fmt.Errorf("%w: --status %q is none of %s", errUse, status, strings.Join(known[1:], ", "))
			}
			return operate(cmd, func(o *app.Operator) error {
				found, err := o.Scrolls(cmd.Context(), email, status)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tACCOUNT\tSTATUS\tVIDEOS\tFAILURE\tCREATED")
				for _, scroll := range found {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", scroll.ID, scroll.Account, scroll.Status, scroll.Videos, scroll.Failure, scroll.Created.Format(time.RFC3339))
				}
				return w.Flush()
			})
		},
	}
	command.Flags().StringVar(&email, "email", "", "address of the account; without it, all accounts")
	command.Flags().StringVar(&status, "status", "", "only scrolls that are queued, running, completed, failed or cancelled")
	return command
}

func scrollsRetry() *cobra.Command {
	return &cobra.Command{
		Use:   "retry ID",
		Short: "Start one that failed or was cancelled again; its account pays for new videos alone; prints the new id",
		Args:  oneArg("the id of a scroll"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error {
				started, err := o.RetryScroll(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				fmt.Println(started)
				return nil
			})
		},
	}
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

func scrollsVerdicts() *cobra.Command {
	var email, scroll string
	var dropped bool
	command := &cobra.Command{
		Use:   "verdicts --email A",
		Short: "List the last verdicts on an account's videos, with reasons",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if email == "" {
				return fmt.Errorf("%w: --email is needed", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				verdicts, err := o.Verdicts(cmd.Context(), email, scroll, dropped)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "PLATFORM\tVIDEO\tVERDICT\tRANK\tRULE\tREASON")
				for _, v := range verdicts {
					verdict := "kept"
					if v.DroppedBy != "" {
						verdict = "dropped"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%s\t%s\n", plain(v.Platform), plain(v.ExternalID), verdict, v.Rank, plain(v.DroppedBy), plain(v.Reason))
				}
				return w.Flush()
			})
		},
	}
	command.Flags().StringVar(&email, "email", "", "address of the account")
	command.Flags().StringVar(&scroll, "scroll", "", "only verdicts of this scroll")
	command.Flags().BoolVar(&dropped, "dropped", false, "only dropped videos")
	return command
}

// plain replaces control characters of untrusted text, which a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
