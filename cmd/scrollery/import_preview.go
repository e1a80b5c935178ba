package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/plugins/stage"
)

// previewImport shows what an import would read.
func previewImport(cmd *cobra.Command, files operator.InputFiles, asJSON bool) error {
	progress := newProgress(os.Stderr)
	files.Begin, files.Watch = progress.begin, progress.read
	preview, err := operator.PreviewImport(cmd.Context(), files)
	progress.end()
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(preview); err != nil {
			return err
		}
		return someRead(preview.Files)
	}
	if err := printPreview(os.Stdout, preview); err != nil {
		return err
	}
	return someRead(preview.Files)
}

func printPreview(out io.Writer, preview operator.ImportPreview) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PLATFORM\tID\tHANDLE\tPOSTED\tOBSERVED\tVIEWS\tLIKES\tCOMMENTS\tCAPTION")
	for _, row := range preview.First {
		rec := row.Record
		handle := ""
		if rec.Source != nil {
			handle = rec.Source.Handle
		}
		m := rec.Metrics
		fmt.Fprintln(table, strings.Join([]string{
			rec.Platform, plain(rec.ExternalID), orDash(plain(handle)), moment(rec.PostedAt), moment(m.ObservedAt),
			number(m.Views), number(m.Likes), number(m.Comments), orDash(captionOf(rec)),
		}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, file := range preview.Files {
		fmt.Fprintf(&text, "%s: %s; %d would be read", plain(file.File), formatsOf(file), file.Read)
		if file.Doubtful > 0 {
			fmt.Fprintf(&text, ", %d implausible values", file.Doubtful)
		}
		fmt.Fprintln(&text)
		writeUnderstood(&text, file)
		writeSkips(&text, file)
	}
	fmt.Fprintln(&text, "Nothing was stored.")
	_, err := io.WriteString(out, text.String())
	return err
}

// captionOf is the start of a caption on one line.
func captionOf(rec stage.Record) string {
	var has struct {
		Caption string `json:"caption"`
	}
	_ = json.Unmarshal(rec.Metadata, &has) // metadata without a caption
	const longest = 40
	runes := []rune(strings.Join(strings.Fields(has.Caption), " "))
	if len(runes) > longest {
		runes = append(runes[:longest-1], '…')
	}
	return plain(string(runes))
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func moment(ms *int64) string {
	if ms == nil {
		return "-"
	}
	return time.UnixMilli(*ms).UTC().Format("2006-01-02T15:04Z")
}

func orDash(text string) string { return cmp.Or(text, "-") }
