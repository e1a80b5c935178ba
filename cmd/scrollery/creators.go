package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/operator"
)

func creatorsCommand() *cobra.Command {
	return group("creators", "Erase creators from all libraries", creatorsErase(), creatorsReceipt())
}

func creatorsErase() *cobra.Command {
	var order operator.EraseOrder
	command := &cobra.Command{
		Use:   "erase PLATFORM [HANDLE] --reason TEXT",
		Short: "Erase a creator from the libraries of all accounts, and keep them out",
		Long: "Deletes every video of a creator from the libraries of all accounts, with what accounts deleted and could still bring\n" +
			"back, and keeps the creator out of them from then on. Nothing undoes it. The signed receipt is written to stdout. A command\n" +
			"that was cut off goes on when it is run again.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%w: %s takes a platform and a handle, or a platform and --id", errUse, cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			order.Platform = args[0]
			if len(args) > 1 {
				order.Handle = args[1]
			}
			if order.Reason == "" {
				return fmt.Errorf("%w: say why with --reason; it is part of the receipt", errUse)
			}
			if order.Handle == "" && order.CreatorID == "" {
				return fmt.Errorf("%w: name the creator by a HANDLE, --id or both", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				receipt, err := o.EraseCreator(cmd.Context(), order)
				if err != nil {
					return err
				}
				return printReceipt(receipt)
			})
		},
	}
	command.Flags().StringVar(&order.CreatorID, "id", "", "the platform's id of the creator")
	command.Flags().StringVar(&order.Reason, "reason", "", "why, for the receipt; it should name no one")
	return command
}

func creatorsReceipt() *cobra.Command {
	return &cobra.Command{
		Use:   "receipt FILE",
		Short: "Verify the receipt of an erasure; - reads it from stdin",
		Args:  oneArg("the file of a receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var text []byte
			var err error
			if args[0] == "-" {
				text, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
			} else {
				text, err = os.ReadFile(args[0])
			}
			if err != nil {
				return err
			}
			return operate(cmd, func(o *app.Operator) error {
				receipt, err := o.CheckReceipt(text)
				if err != nil {
					return err
				}
				return printReceipt(receipt)
			})
		},
	}
}

func printReceipt(receipt *operator.Receipt) error {
	text, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%s\n", text)
	return err
}
