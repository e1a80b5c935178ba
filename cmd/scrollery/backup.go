package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

func backupCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the database and the accounts' files into a new folder, beside a running server",
		Long: "Copies the SQLite database, as it is at one moment, the tokens that plugins renewed and the files of all accounts into a new folder.\n" +
			"The folder can be used as a data folder. A PostgreSQL database is not copied: use pg_dump.",
		Args: oneArg("a folder that does not exist yet"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd, func(o *app.Operator) error {
				database, files, err := o.Backup(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if !database {
					fmt.Fprintln(os.Stderr, "The database is not in the backup: use pg_dump to copy a PostgreSQL database.")
				}
				fmt.Fprintf(os.Stderr, "%d files of accounts were copied.\n", files)
				switch key, err := o.KeyID(); {
				case err != nil:
					fmt.Fprintf(os.Stderr, "The key of sealed secrets can not be read: %v\n", err)
				case key != "":
					fmt.Fprintf(os.Stderr, "Sealed secrets in the backup need the key %s.\n", key)
				}
				fmt.Println(args[0])
				return nil
			})
		},
	}
	command.AddCommand(backupVerify())
	return command
}
