package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func creditsCommand() *cobra.Command {
	var amount int64
	var reference string
	grant := &cobra.Command{
		Use:   "grant ID|EMAIL --credits N",
		Short: "Give an account credits, and print its balance",
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if amount < 1 {
				return fmt.Errorf("%w: --credits %d is below 1", errUse, amount)
			}
			return operate(cmd, func(o *app.Operator) error {
				balance, err := o.GrantCredits(cmd.Context(), args[0], amount, reference)
				if err == nil {
					fmt.Println(balance.Credits)
				}
				return err
			})
		},
	}
	grant.Flags().Int64Var(&amount, "credits", 0, "number of credits; one is a US cent")
	grant.Flags().StringVar(&reference, "reference", "", "name of the grant: repeating a grant with the same name has no effect")
	return group("credits", "Give credits", grant)
}

func subscriptionsCommand() *cobra.Command {
	return group("subscriptions", "Compare subscriptions with Stripe", &cobra.Command{
		Use:   "sync",
		Short: "Compare every subscription that has not ended with Stripe",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return operate(cmd, func(o *app.Operator) error {
				done, err := o.Billing.Updates.SyncAll(cmd.Context())
				if err == nil || done.Checked > 0 {
					fmt.Printf("%d checked, %d changed\n", done.Checked, done.Changed)
				}
				if done.Unknown > 0 {
					fmt.Fprintf(os.Stderr, "%d are unknown to this Stripe account, and were not changed.\n", done.Unknown)
				}
				return err
			})
		},
	})
}

func billingCommand() *cobra.Command {
	return group("billing", "Prepare Stripe", &cobra.Command{
		Use:   "setup",
		Short: "Create or update the products and prices of the plans in Stripe",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return operate(cmd, func(o *app.Operator) error {
				report, err := o.Billing.SetUp(cmd.Context())
				for _, line := range report {
					fmt.Println(line)
				}
				return err
			})
		},
	})
}
