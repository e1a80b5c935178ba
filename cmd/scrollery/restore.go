package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/modules/operator"
)

func backupVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify PATH",
		Short: "Read a backup as a whole, and say what it has",
		Long: "Opens the copy through SQLite, checks the whole file, compares its schema with this release, counts the rows of the main\n" +
			"tables and looks for the server's key and the tokens. It changes nothing of the copy.",
		Args: oneArg("the folder of a backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := operator.VerifyBackup(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			printVerified(found)
			return nil
		},
	}
}

func printVerified(found operator.Verified) {
	fmt.Printf("The database is whole. %s", found.Schema)
	if found.Older {
		fmt.Print(", which the next start migrates")
	}
	fmt.Printf(".\nRows: %s.\n", found.Summary())
	for _, part := range []struct {
		there      bool
		name, lack string
	}{
		{found.Key, "secret.key", "sealed secrets and what was deleted need the server's key: have it in SCROLLERY_SECRET_KEY or in the data folder"},
		{found.Tokens, "tokens", "plugins begin with the tokens of the configuration"},
		{found.Sandbox, "sandbox", "accounts have no sandbox files"},
	} {
		if part.there {
			fmt.Printf("%s: there.\n", part.name)
		} else {
			fmt.Printf("%s: not there; %s.\n", part.name, part.lack)
		}
	}
}

func restoreCommand() *cobra.Command {
	var replace bool
	command := &cobra.Command{
		Use:   "restore PATH",
		Short: "Put a backup in the place of the data of a server that is stopped",
		Long: "Verifies the backup and puts its database, key, tokens and sandbox files into the data folder. It refuses while a server\n" +
			"or a command uses the data folder, and a folder with a database without --replace, which moves what is there aside. The\n" +
			"log of what was deleted stays: the next start deletes it again. It is done as a whole or not at all, even if it is killed.\n" +
			"A PostgreSQL database is restored with pg_restore.",
		Args: oneArg("the folder of a backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if cfg.DatabaseURL != "" {
				return errors.New("the database is PostgreSQL: restore it with pg_restore, leave the folder `removed` in the data folder, and start; see Restore in docs/operations.md")
			}
			done, err := operator.Restore(cmd.Context(), args[0], cfg.DataDir, replace)
			if err != nil {
				return err
			}
			printVerified(done.Verified)
			if done.Aside != "" {
				fmt.Fprintf(os.Stderr, "What was there before is in %s: delete it when you no longer need it.\n", done.Aside)
			}
			fmt.Fprintf(os.Stderr, "The backup is restored into %s. Next: start the server. It deletes again what was deleted since the backup before it serves.\n", filepath.Clean(cfg.DataDir))
			return nil
		},
	}
	command.Flags().BoolVar(&replace, "replace", false, "move the database that is there aside")
	return command
}
