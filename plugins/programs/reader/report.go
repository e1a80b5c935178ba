package reader

import (
	"encoding/json"

	"github.com/scrollery/scrollery/plugins/formats"
	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

// Bounds of what a report says of the columns: those of one file, and of all together.
const (
	maxColumns    = 300
	maxAllColumns = 1000
)

// encode is the report; refused counts records that name no video.
func encode(report *formats.Report, refused int) *readerv1.Report {
	out := &readerv1.Report{Doubtful: int64(report.Doubtful), Formats: counts(report.Formats)}
	for _, skip := range report.Sorted() {
		out.Skips = append(out.Skips, &readerv1.Skip{Reason: string(skip.Reason), Count: int64(skip.Count), Line: int64(skip.Line), Detail: skip.Detail})
	}
	if refused > 0 {
		out.Skips = append(out.Skips, &readerv1.Skip{Reason: string(formats.NoID), Count: int64(refused)})
	}
	columns := maxAllColumns
	out.Files = append(out.Files, understanding("", report.Videos, &report.Understanding, &columns))
	for i := range report.Entries {
		entry := &report.Entries[i]
		out.Files = append(out.Files, understanding(entry.File, entry.Videos, &entry.Understanding, &columns))
	}
	return out
}

func counts(of map[string]int) map[string]int64 {
	out := make(map[string]int64, len(of))
	for name, n := range of {
		out[name] = int64(n)
	}
	return out
}

// understanding of one file, which lists at most so many columns, and lowers that number.
func understanding(name string, videos int, u *formats.Understanding, columns *int) *readerv1.Understanding {
	listed := min(len(u.Columns), maxColumns, *columns)
	*columns -= listed
	out := &readerv1.Understanding{
		File: name, Videos: int64(videos), Form: u.Form, Fields: counts(u.Fields), Places: counts(u.Places),
		ObservedInFile: int64(u.ObservedInFile), MoreColumns: int64(len(u.Columns) - listed),
	}
	for _, column := range u.Columns[:listed] {
		out.Columns = append(out.Columns, &readerv1.Column{Name: column.Name, Field: column.Field, Reason: column.Reason})
	}
	for _, misread := range u.Misread {
		out.Misread = append(out.Misread, &readerv1.Misread{Column: misread.Column, Line: int64(misread.Line), Text: misread.Text})
	}
	used := u.Map
	if u.Proposal != nil {
		used, out.Doubtful = u.Proposal, true
	}
	if used != nil {
		if text, err := json.Marshal(used); err == nil { // a map of texts
			out.Map = string(text)
		}
	}
	return out
}
