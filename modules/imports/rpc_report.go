package imports

import (
	"maps"
	"slices"
	"strings"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func reportMessage(report *Report) *scrolleryv1.ImportReport {
	m := &scrolleryv1.ImportReport{
		Read: int32(report.Read), DoubtfulValues: int32(report.Doubtful), CountsFrom: report.CountsFrom, Differing: int32(report.Differing),
	}
	if report.CountsAt != 0 {
		m.CountsAt = number(&report.CountsAt)
	}
	for name, videos := range report.Formats {
		m.Formats = append(m.Formats, &scrolleryv1.ImportFormat{Format: name, Videos: int32(videos)})
	}
	slices.SortFunc(m.Formats, func(a, b *scrolleryv1.ImportFormat) int { return strings.Compare(a.Format, b.Format) })
	for _, skip := range report.Skips {
		m.Skipped = append(m.Skipped, &scrolleryv1.ImportSkip{
			Reason: skip.Reason, Count: int32(skip.Count), FirstLine: int32(skip.Line), FirstDetail: skip.Detail,
		})
	}
	for _, run := range report.Runs {
		if last := len(m.Days) - 1; last >= 0 && m.Days[last].Day == run.Day {
			m.Days[last].Readings += int32(run.Readings)
			continue
		}
		m.Days = append(m.Days, &scrolleryv1.ImportDay{Day: run.Day, Readings: int32(run.Readings)})
	}
	for i := range report.Files {
		m.Files = append(m.Files, fileMessage(&report.Files[i]))
	}
	for _, d := range report.Differences {
		m.Differences = append(m.Differences, &scrolleryv1.ImportDifference{
			Platform: d.Platform, ExternalId: d.ExternalID, Field: d.Field, Known: float64(d.Known), Read: float64(d.Read),
		})
	}
	return m
}

func fileMessage(file *ReadFile) *scrolleryv1.ImportFile {
	m := &scrolleryv1.ImportFile{
		Name: file.Name, Videos: int32(file.Videos), Form: file.Form, CountsInFile: int32(file.CountsInFile), MoreColumns: int32(file.MoreColumns),
		Map: file.Map, Doubtful: file.Doubtful,
	}
	for _, field := range slices.Sorted(maps.Keys(file.Fields)) {
		m.Fields = append(m.Fields, &scrolleryv1.ImportField{Field: field, Found: int32(file.Fields[field])})
	}
	for _, column := range file.Columns {
		m.Columns = append(m.Columns, &scrolleryv1.ImportColumn{Name: column.Name, Field: column.Field, Reason: column.Reason})
	}
	for _, text := range file.NotUnderstood {
		m.NotUnderstood = append(m.NotUnderstood, &scrolleryv1.ImportText{Column: text.Column, Line: int32(text.Line), Text: text.Text})
	}
	for _, place := range slices.Sorted(maps.Keys(file.Places)) {
		m.Places = append(m.Places, &scrolleryv1.ImportPlace{Place: place, Videos: int32(file.Places[place])})
	}
	return m
}
