package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/plugins/formats"
)

// errNothingRead ends an import without a single video.
var errNothingRead = errors.New("no video could be read: the reasons are in the report")

// someRead is an error unless some file had a video. Files that have none because an account
// is empty are right.
func someRead(files []operator.ImportedFile) error {
	for _, file := range files {
		if _, export := file.Formats["scrollery-export"]; file.Read > 0 || export {
			return nil
		}
	}
	return errNothingRead
}

// writeUnderstood says what a file was taken for.
func writeUnderstood(text *strings.Builder, file operator.ImportedFile) {
	u := file.Understood
	writeReading(text, "  ", u, file.Read)
	if file.CountsFrom != "" {
		at := time.UnixMilli(file.CountsAt).UTC().Format("2006-01-02T15:04Z")
		fmt.Fprintf(text, "  time of the counts: %s, %s; in the file for %d of %d\n", at, file.CountsFrom, min(u.ObservedInFile, file.Read), file.Read)
	} else if file.Read > 0 && u.ObservedInFile > 0 {
		fmt.Fprintf(text, "  time of the counts: in the file for %d of %d\n", min(u.ObservedInFile, file.Read), file.Read)
	}
	for _, entry := range u.Entries {
		fmt.Fprintf(text, "  %s: %d read\n", plain(entry.File), entry.Videos)
		writeReading(text, "    ", entry.Understanding, entry.Videos)
	}
}

// writeReading says how one text was read, in lines that begin with lead.
func writeReading(text *strings.Builder, lead string, u formats.Understanding, read int) {
	line := func(what string, parts []string) {
		if len(parts) > 0 {
			fmt.Fprintf(text, "%s%s: %s\n", lead, what, strings.Join(parts, ", "))
		}
	}
	var form, found, places, used, unused []string
	for _, part := range u.Form {
		form = append(form, plain(part))
	}
	line("read as", form)
	if read > 0 {
		for _, field := range []string{"views", "likes", "comments", "shares", "saves", "followers", "postedAt", "handle", "sourceUrl"} {
			found = append(found, fmt.Sprintf("%s %d of %d", field, min(u.Fields[field], read), read))
		}
	}
	line("found", found)
	for _, place := range slices.Sorted(maps.Keys(u.Places)) {
		places = append(places, fmt.Sprintf("%s %d", plain(place), u.Places[place]))
	}
	line("places", places)
	for _, column := range u.Columns {
		if column.Field != "" {
			used = append(used, fmt.Sprintf("%s is %s (%s)", plain(column.Name), column.Field, plain(column.Reason)))
		} else {
			unused = append(unused, fmt.Sprintf("%s (%s)", plain(column.Name), plain(column.Reason)))
		}
	}
	line("columns", capped(used))
	line("columns not used", capped(unused))
	for _, misread := range u.Misread {
		where := plain(misread.Column)
		if misread.Line > 0 {
			where += fmt.Sprintf(" in line %d", misread.Line)
		}
		fmt.Fprintf(text, "%snot understood: %s: %q\n", lead, where, misread.Text)
	}
	writeProposal(text, lead, u.Proposal)
}

// capped leaves out most of very many columns.
func capped(names []string) []string {
	const most = 60
	if len(names) > most {
		return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return names
}

// writeProposal prints a column map to start from.
func writeProposal(text *strings.Builder, lead string, proposal *formats.Map) {
	if proposal == nil {
		return
	}
	out, err := json.MarshalIndent(proposal, lead, "  ")
	if err != nil {
		return
	}
	fmt.Fprintf(text, "%sa map to start from; save it beside the file, under its name and .map.json:\n%s%s\n", lead, lead, out)
}
