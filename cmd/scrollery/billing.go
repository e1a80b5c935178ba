package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/operator"
)

func creditsCommand() *cobra.Command {
	return group("credits", "Give accounts credits, and take them",
		creditsMove("grant ID|EMAIL --credits N", "Give an account credits, and print its balance", "grants it once", (*app.Operator).GrantCredits, false),
		creditsMove("take ID|EMAIL --credits N --reference R", "Take credits from an account, and print its balance; what it lacks is owed", "takes them once", (*app.Operator).TakeCredits, true))
}

func creditsMove(use, short, once string, move func(*app.Operator, context.Context, string, int64, string) (operator.Balance, error), needed bool) *cobra.Command {
	var amount int64
	var reference string
	command := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  oneArg("the id or the address of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if amount < 1 {
				return fmt.Errorf("%w: --credits %d is below 1", errUse, amount)
			}
			if needed && reference == "" {
				return fmt.Errorf("%w: --reference is needed: what the credits are taken for", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				balance, err := move(o, cmd.Context(), args[0], amount, reference)
				if err != nil {
					return err
				}
				fmt.Println(balance.Credits)
				if balance.Owed > 0 {
					fmt.Fprintf(os.Stderr, "The account owes %d.\n", balance.Owed)
				}
				return nil
			})
		},
	}
	command.Flags().Int64Var(&amount, "credits", 0, "number of credits; one is a US cent")
	command.Flags().StringVar(&reference, "reference", "", "an own name of the movement, which "+once+"; with another number of credits it is refused")
	return command
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
