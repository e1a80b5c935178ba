package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/operator"
)

func keysCommand() *cobra.Command {
	return group("keys", "Create, list and revoke API keys", keysCreate(), keysList(), keysRevoke())
}

func keysCreate() *cobra.Command {
	var order operator.KeyOrder
	var scopes string
	command := &cobra.Command{
		Use:   "create --email A --plan standard|pro",
		Short: "Print a new key of a complimentary account; if the address is known, of its account",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("ttl") && order.TTL <= 0 {
				return fmt.Errorf("%w: --ttl %v: not above 0; without --ttl the key does not expire", errUse, order.TTL)
			}
			order.Scopes = strings.FieldsFunc(scopes, func(r rune) bool { return r == ',' || r == ' ' })
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if err := order.Validate(cfg.Keys.MaxSessionTTL); err != nil {
				return fmt.Errorf("%w: %w", errUse, err)
			}
			return operateWith(cmd, cfg, func(o *app.Operator) error {
				secret, err := o.CreateKey(cmd.Context(), order)
				if err == nil {
					fmt.Println(secret)
				}
				return err
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&order.Email, "email", "", "address of the account")
	flags.StringVar(&order.Plan, "plan", "", "standard or pro")
	flags.StringVar(&scopes, "scopes", "", "scopes, separated by commas; empty: all")
	flags.DurationVar(&order.TTL, "ttl", 0, "lifetime of a session key, such as 1h; without it the key does not expire")
	return command
}

func keysList() *cobra.Command {
	var email string
	command := &cobra.Command{
		Use:   "list --email A",
		Short: "List the keys of an account",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if email == "" {
				return fmt.Errorf("%w: --email is needed", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				keys, err := o.Keys(cmd.Context(), email)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tENDS IN\tSTATE\tCREATED\tSCOPES")
				for _, key := range keys {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", key.ID, key.Hint, key.State, key.Created.Format(time.RFC3339), strings.Join(key.Scopes, ","))
				}
				return w.Flush()
			})
		},
	}
	command.Flags().StringVar(&email, "email", "", "address of the account")
	return command
}

func keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key and the session keys created with it",
		Args:  oneArg("the id of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error { return o.RevokeKey(cmd.Context(), args[0]) })
		},
	}
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%w: %s takes %s", errUse, cmd.CommandPath(), what)
		}
		return nil
	}
}

// operate opens the database for one command, beside a running server.
func operate(cmd *cobra.Command, do func(*app.Operator) error) error {
	cfg, err := load(cmd)
	if err != nil {
		return err
	}
	return operateWith(cmd, cfg, do)
}

// operateWith is operate with a loaded configuration.
func operateWith(cmd *cobra.Command, cfg app.Config, do func(*app.Operator) error) error {
	o, err := app.NewOperator(cmd.Context(), cfg, app.NewLog(os.Stderr, cfg.LogLevel))
	if err != nil {
		return err
	}
	defer o.Close()
	return do(o)
}
