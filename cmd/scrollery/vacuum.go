package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

func vacuumCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vacuum",
		Short: "Write the database of a stopped server anew, without what was deleted",
		Long: "Gives freed pages back to the disk, and removes the old texts in them. It needs as much room as the database has,\n" +
			"in the data folder and in that of temporary files (TMPDIR), and refuses while a server or a command\n" +
			"uses the data folder. PostgreSQL does this by itself.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if cfg.DatabaseURL != "" {
				return errors.New("the database is PostgreSQL, which vacuums by itself; to shrink its files at once, run VACUUM FULL there")
			}
			path := filepath.Join(cfg.DataDir, sqlite.Name)
			size := func() int64 {
				found, err := os.Stat(path)
				if err != nil {
					return 0
				}
				return found.Size()
			}
			before := size()
			if err := sqlite.Vacuum(cmd.Context(), cfg.DataDir); err != nil {
				return err
			}
			fmt.Printf("%s: %d bytes, now %d\n", path, before, size())
			return nil
		},
	}
}
