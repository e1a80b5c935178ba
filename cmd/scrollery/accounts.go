package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/operator"
)

func accountsCommand() *cobra.Command {
	return group("accounts", "List and show accounts, change their plans and limits, block and delete them", accountsList(), accountsShow(), accountsPlan(), accountsLimits(), accountsBlock(), accountsDelete())
}

func accountsPlan() *cobra.Command {
	var plan string
	command := &cobra.Command{
		Use:   "plan ID|EMAIL --plan standard|pro|none",
		Short: "Give an account that does not pay another plan, or end it",
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !operator.KnownPlan(plan) && plan != operator.NoPlan {
				return fmt.Errorf("%w: --plan %q is none of standard, pro and none", errUse, plan)
			}
			return operate(cmd, func(o *app.Operator) error {
				account, err := o.ChangePlan(cmd.Context(), args[0], plan)
				if err != nil {
					return err
				}
				return printAccount(account)
			})
		},
	}
	command.Flags().StringVar(&plan, "plan", "", "standard, pro or none")
	return command
}

func accountsLimits() *cobra.Command {
	return &cobra.Command{
		Use:   "limits ID|EMAIL NAME=VALUE|plan…",
		Short: "Give one account other limits than its plan's: daily_units, monthly_units, active_scrolls, max_feed_size, max_videos, max_import_bytes, framed_videos; NAME=plan ends that",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("%w: want the id or the address of an account, and limits, such as daily_units=50000", errUse)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error {
				account, err := o.LimitAccount(cmd.Context(), args[0], args[1:])
				if err != nil {
					return err
				}
				return printAccount(account)
			})
		},
	}
}

func accountsBlock() *cobra.Command {
	var lift bool
	command := &cobra.Command{
		Use:   "block ID|EMAIL",
		Short: "Refuse all keys of an account, hide what it shares, start nothing of it; --lift ends that",
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error {
				if err := o.BlockAccount(cmd.Context(), args[0], lift); err != nil {
					return err
				}
				account, err := o.Account(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return printAccount(account)
			})
		},
	}
	command.Flags().BoolVar(&lift, "lift", false, "admit the account again")
	return command
}

func accountsDelete() *cobra.Command {
	var yes, keep bool
	command := &cobra.Command{
		Use:   "delete ID|EMAIL --yes|--keep",
		Short: "Delete an account with all that it has, seven days from now; --keep calls it off",
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes == keep {
				return fmt.Errorf("%w: say --yes to delete the account, or --keep to call that off", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				at, err := o.DeleteAccount(cmd.Context(), args[0], keep)
				switch {
				case err != nil:
				case keep:
					fmt.Println("The account stays.")
				default:
					fmt.Printf("The account and its subscription go at %s. Until then, `scrollery admin accounts delete %s --keep` and the account itself call it off.\n", at.UTC().Format(time.RFC3339), args[0])
				}
				return err
			})
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "delete it")
	command.Flags().BoolVar(&keep, "keep", false, "call the deletion off")
	return command
}

func accountsList() *cobra.Command {
	var after string
	var limit int
	command := &cobra.Command{
		Use:   "list",
		Short: "List accounts, oldest first, with plan, status and credits",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return fmt.Errorf("%w: --limit %d is below 1", errUse, limit)
			}
			return operate(cmd, func(o *app.Operator) error {
				accounts, err := o.Accounts(cmd.Context(), after, limit)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tEMAIL\tPLAN\tINTERVAL\tSTATUS\tCREDITS\tOWED\tCREATED")
				for _, account := range accounts {
					if !account.Blocked.IsZero() {
						account.Status = "blocked"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", account.ID, account.Email, account.Plan, account.Interval,
						account.Status, account.Credits, account.Owed, account.Created.Format(time.RFC3339))
				}
				return w.Flush()
			})
		},
	}
	command.Flags().StringVar(&after, "after", "", "id of the last account to skip")
	command.Flags().IntVar(&limit, "limit", 100, "most accounts to list")
	return command
}

func accountsShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID|EMAIL",
		Short: "Show an account, its last credit movements and its audit entries",
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error {
				account, err := o.Account(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return printAccount(account)
			})
		},
	}
}

func printAccount(account operator.AccountReport) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "id\t%s\nemail\t%s\nplan\t%s %s\nstatus\t%s\n", account.ID, account.Email, account.Plan, account.Interval, account.Status)
	if !account.Blocked.IsZero() {
		fmt.Fprintf(w, "blocked since\t%s\n", account.Blocked.UTC().Format(time.RFC3339))
	}
	if account.Limits != "" {
		fmt.Fprintf(w, "own limits\t%s\n", account.Limits)
	}
	if !account.PeriodEnd.IsZero() {
		fmt.Fprintf(w, "paid until\t%s\n", account.PeriodEnd.UTC().Format(time.RFC3339))
	}
	if !account.Leaves.IsZero() {
		fmt.Fprintf(w, "deleted from\t%s\n", account.Leaves.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(w, "credits\t%d\nowed\t%d\ncreated\t%s\n", account.Credits, account.Owed, account.Created.Format(time.RFC3339))
	for i, entry := range account.Movements {
		if i == 0 {
			fmt.Fprintln(w, "\nMOVED\tBALANCE\tREASON\tREFERENCE\tWHEN")
		}
		fmt.Fprintf(w, "%+d\t%d\t%s\t%s\t%s\n", entry.Amount, entry.Balance, entry.Reason, entry.Reference, entry.CreatedAt.UTC().Format(time.RFC3339))
	}
	for i, entry := range account.Changes {
		if i == 0 {
			fmt.Fprintln(w, "\nWHO\tWHAT\tON\tDETAIL\tWHEN")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", entry.Actor, entry.Action, entry.Subject, entry.Detail, entry.At.UTC().Format(time.RFC3339))
	}
	return w.Flush()
}
