package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func secretsCommand() *cobra.Command {
	return group("secrets", "Rotate the key of sealed secrets", secretsRotate())
}

func secretsRotate() *cobra.Command {
	var wait time.Duration
	command := &cobra.Command{
		Use:   "rotate",
		Short: "Give the server a new key, seal all secrets with it, and remove the old key",
		Long: "Makes a new key in secret.key of the data folder, seals the secrets of webhooks, the tokens of plugins and what can be brought\n" +
			"back with it, and removes the old key. It works beside running servers, which read the file again. A command that was cut off\n" +
			"goes on when it is run again. Backups from before need the key that they have.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wait < 0 {
				return fmt.Errorf("%w: --wait must not be negative", errUse)
			}
			return operate(cmd, func(o *app.Operator) error {
				done, err := o.RotateSecrets(cmd.Context(), wait)
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%d secrets were sealed with the new key.\n", done.Resealed)
				if done.Names != "" {
					fmt.Fprintf(os.Stderr, "Now set the server's key to its first line alone, and below it:\n%s", done.Names)
				}
				fmt.Println(done.KeyID)
				return nil
			})
		},
	}
	command.Flags().DurationVar(&wait, "wait", time.Minute, "how long a transaction of a server may still seal with the old key")
	return command
}
