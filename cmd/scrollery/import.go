package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/plugins/formats"
)

func importCommand() *cobra.Command {
	var flags importFlags
	command := &cobra.Command{
		Use:   "import --email A FILE|FOLDER|- …",
		Short: "Load videos that you have in files into an account's library",
		Long:  "Load videos that you have in files into an account's library.\n\nFormats:\n" + listFormats() + "\nThe format of each object is detected by its members; --format reads one format only.",
		Args:  inputFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			order, err := flags.order(args)
			if err != nil {
				return fmt.Errorf("%w: %w", errUse, err)
			}
			if flags.dryRun {
				return previewImport(cmd, order.InputFiles, flags.json)
			}
			return operate(cmd, func(o *app.Operator) error { return runImport(cmd, o, order, flags.json) })
		},
	}
	f := command.Flags()
	f.StringVar(&flags.email, "email", "", "address of the account")
	flags.add(command)
	f.BoolVar(&flags.json, "json", false, "print the report as JSON")
	f.BoolVar(&flags.dryRun, "dry-run", false, "store nothing: show the first ten videos as they would be read, and the report")
	return command
}

// inputFiles are the arguments of a command that reads files.
func inputFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: name at least one file, a folder, or - for the input", errUse)
	}
	if slices.Index(args, "-") != lastIndex(args, "-") {
		return fmt.Errorf("%w: the input can be read once", errUse)
	}
	return nil
}

func lastIndex(all []string, s string) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] == s {
			return i
		}
	}
	return -1
}

func listFormats() string {
	var out strings.Builder
	names, about := formats.Formats()
	for i, name := range names {
		fmt.Fprintf(&out, "  %-18s %s\n", name, about[i])
	}
	return out.String()
}

// fileFlags are the flags of commands that read files.
type fileFlags struct{ columns, format, observed string }

func (f *fileFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.columns, "map", "", "column map for all CSV files, instead of the maps beside them")
	flags.StringVar(&f.format, "format", "", "the only format to read")
	flags.StringVar(&f.observed, "observed-at", "", "time of counts without a time of their own: 2026-01-31 or 2026-01-31T12:00:00Z (default: the file's modification time)")
}

func (f fileFlags) files(paths []string) (operator.InputFiles, error) {
	files := operator.InputFiles{Paths: paths, Input: os.Stdin, Format: formats.Format(f.format)}
	var faults []error
	if names, _ := formats.Formats(); f.format != "" && !slices.Contains(names, files.Format) {
		faults = append(faults, fmt.Errorf("--format: %q is not one of %v", f.format, names))
	}
	if f.columns != "" {
		text, err := os.ReadFile(f.columns)
		if err == nil {
			files.Map, err = formats.ParseMap(text)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("--map: %w", err))
		}
	}
	if f.observed != "" {
		at, err := time.Parse(time.RFC3339, f.observed)
		if err != nil {
			at, err = time.Parse(time.DateOnly, f.observed)
		}
		if ms := at.UnixMilli(); err != nil || at.Year() < 2000 || at.After(time.Now()) {
			faults = append(faults, fmt.Errorf("--observed-at: %q is not a past day or time", f.observed))
		} else {
			files.ObservedAt = &ms
		}
	}
	return files, errors.Join(faults...)
}

// importFlags are the command's own flags as they were given.
type importFlags struct {
	fileFlags
	email        string
	json, dryRun bool
}

func (f importFlags) order(paths []string) (operator.ImportOrder, error) {
	files, err := f.files(paths)
	if f.email == "" && !f.dryRun {
		err = errors.Join(errors.New("--email is needed"), err)
	}
	return operator.ImportOrder{Email: f.email, InputFiles: files}, err
}

func runImport(cmd *cobra.Command, o *app.Operator, order operator.ImportOrder, asJSON bool) error {
	progress := newProgress(os.Stderr)
	order.Begin, order.Watch = progress.begin, progress.read
	report, err := o.Import(cmd.Context(), order)
	progress.end()
	if len(report.Files) == 0 {
		return err
	}
	if printErr := printImport(os.Stdout, report, asJSON); err == nil {
		err = printErr
	}
	if err != nil {
		return fmt.Errorf("%w; the videos imported so far are stored, and the same command continues from there", err)
	}
	return someRead(report.Files)
}

func printImport(out io.Writer, report operator.ImportReport, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	var text strings.Builder
	for _, file := range report.Files {
		fmt.Fprintf(&text, "%s: %s\n", plain(file.File), countsOf(file))
		writeUnderstood(&text, file)
		writeSkips(&text, file)
	}
	if len(report.Files) > 1 {
		fmt.Fprintf(&text, "%d files: %s\n", len(report.Files), countsOf(report.Total))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func writeSkips(text *strings.Builder, file operator.ImportedFile) {
	for _, skip := range file.Skipped {
		fmt.Fprintf(text, "  skipped %d: %s%s\n", skip.Count, skip.Reason, firstOf(skip))
	}
}

func formatsOf(file operator.ImportedFile) string {
	var names []string
	for name, n := range file.Formats {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, " + "), "no videos")
}

func countsOf(file operator.ImportedFile) string {
	skipped := 0
	for _, skip := range file.Skipped {
		skipped += skip.Count
	}
	text := fmt.Sprintf("%s; %d read, %d new, %d seen again, %d already there, %d skipped", formatsOf(file), file.Read, file.New, file.SeenAgain, file.AlreadyThere, skipped)
	if file.Repeated > 0 {
		text += fmt.Sprintf(", %d further readings of a video ignored", file.Repeated)
	}
	if file.Doubtful > 0 {
		text += fmt.Sprintf(", %d implausible values", file.Doubtful)
	}
	return text
}

func firstOf(skip formats.Skip) string {
	switch {
	case skip.Line > 0:
		return fmt.Sprintf(", first in line %d: %s", skip.Line, plain(skip.Detail))
	case skip.Detail != "":
		return ": " + plain(skip.Detail)
	}
	return ""
}
