package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/modules/operator"
)

func backtestCommand() *cobra.Command {
	var (
		flags  fileFlags
		asJSON bool
		days   int
	)
	command := &cobra.Command{
		Use:   "backtest FILE|FOLDER|- …",
		Short: "Test on files of several days whether outliers and trends hold later",
		Long: "Test on files of several days whether outliers and trends hold later. It uses no database.\n\n" +
			"All readings are sorted by their times. A run ends where no reading follows for six hours, or after a day.\n\nFormats:\n" + listFormats(),
		Args: inputFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := flags.files(args)
			if days < 1 || days > 365 {
				err = errors.Join(err, fmt.Errorf("--days: %d is not from 1 to 365", days))
			}
			if err != nil {
				return fmt.Errorf("%w: %w", errUse, err)
			}
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return runBacktest(cmd, operator.BacktestOrder{InputFiles: files, Days: days, Generic: cfg.Library.Generic}, asJSON)
		},
	}
	f := command.Flags()
	flags.add(command)
	f.IntVar(&days, "days", 4, "days after a run in which its trends may be taken up")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return command
}

func runBacktest(cmd *cobra.Command, order operator.BacktestOrder, asJSON bool) error {
	progress := newProgress(os.Stderr)
	order.Begin, order.Watch = progress.begin, progress.read
	report, err := operator.Backtest(cmd.Context(), order)
	progress.end()
	for _, file := range report.Files {
		fmt.Fprintf(os.Stderr, "%s: %d read\n", plain(file.File), file.Read)
		for _, skip := range file.Skipped {
			fmt.Fprintf(os.Stderr, "  skipped %d: %s%s\n", skip.Count, skip.Reason, firstOf(skip))
		}
	}
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	return report.WriteTables(os.Stdout)
}
