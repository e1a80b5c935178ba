package readerhost

import (
	"unicode/utf8"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/imports"
	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

// Bounds of a report: the process is not trusted.
const (
	maxSkips   = 40
	maxFiles   = 51
	maxForms   = 10
	maxColumns = 300
	maxMisread = 20
	maxPlaces  = 31
	// maxAll bounds the columns, forms, fields, places and texts of all files together.
	maxAll = 4000
	// maxText and maxMap in bytes.
	maxText = 300
	maxMap  = 64 << 10
)

// decoding is a report on its way in; left is how many more parts it may have.
type decoding struct{ left int }

func decode(report *readerv1.Report) imports.Understood {
	d := &decoding{left: maxAll}
	read := imports.Understood{Doubtful: int(report.GetDoubtful()), Formats: d.counts(report.GetFormats(), maxSkips)}
	for _, skip := range first(report.GetSkips(), maxSkips) {
		read.Skips = append(read.Skips, imports.Skip{
			Reason: printable(skip.GetReason()), Count: int(skip.GetCount()), Line: int(skip.GetLine()), Detail: printable(skip.GetDetail()),
		})
	}
	for _, file := range first(report.GetFiles(), maxFiles) {
		read.Files = append(read.Files, d.file(file))
	}
	return read
}

func (d *decoding) file(u *readerv1.Understanding) imports.ReadFile {
	file := imports.ReadFile{
		Name: printable(u.GetFile()), Videos: int(u.GetVideos()), CountsInFile: int(u.GetObservedInFile()), MoreColumns: int(u.GetMoreColumns()),
		Fields: d.counts(u.GetFields(), maxSkips), Places: d.counts(u.GetPlaces(), maxPlaces),
	}
	for _, form := range first(u.GetForm(), d.take(maxForms)) {
		file.Form = append(file.Form, printable(form))
	}
	columns := first(u.GetColumns(), d.take(maxColumns))
	file.MoreColumns += len(u.GetColumns()) - len(columns)
	for _, column := range columns {
		file.Columns = append(file.Columns, imports.Column{
			Name: printable(column.GetName()), Field: printable(column.GetField()), Reason: printable(column.GetReason()),
		})
		d.left--
	}
	for _, misread := range first(u.GetMisread(), d.take(maxMisread)) {
		file.NotUnderstood = append(file.NotUnderstood, imports.Text{
			Column: printable(misread.GetColumn()), Line: int(misread.GetLine()), Text: printable(misread.GetText()),
		})
		d.left--
	}
	if len(u.GetMap()) <= maxMap {
		file.Map, file.Doubtful = u.GetMap(), u.GetDoubtful()
	}
	return file
}

// take is how many of most more parts the report may have.
func (d *decoding) take(most int) int { return max(0, min(most, d.left)) }

func (d *decoding) counts(of map[string]int64, most int) map[string]int {
	out := make(map[string]int, len(of))
	for name, n := range of {
		if len(out) < d.take(most) {
			out[printable(name)] = int(n)
			d.left--
		}
	}
	return out
}

func first[T any](all []T, most int) []T { return all[:min(len(all), most)] }

// printable is a text as it may be shown, cut to its bound.
func printable(text string) string {
	if len(text) > maxText {
		end := maxText
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return host.Printable(text)
}
