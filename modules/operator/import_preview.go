package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// PreviewRows is how many videos a preview shows.
const PreviewRows = 10

// ImportPreview is what an import would read.
type ImportPreview struct {
	// First are the first videos, as they would be stored.
	First []PreviewRow   `json:"first"`
	Files []ImportedFile `json:"files"`
}

// PreviewRow is one video of a file.
type PreviewRow struct {
	File   string       `json:"file"`
	Record stage.Record `json:"record"`
}

// PreviewImport reads the files as Import does, and stores nothing. It needs no account
// and no database: what is new or there already is not known, so these counts are 0.
// Exports of accounts are not read.
func PreviewImport(ctx context.Context, order InputFiles) (ImportPreview, error) {
	files, err := findFiles(order.Paths)
	if err != nil {
		return ImportPreview{}, err
	}
	if order.Begin != nil {
		order.Begin(sizeOf(files))
	}
	preview := ImportPreview{First: []PreviewRow{}, Files: []ImportedFile{}}
	for _, file := range files {
		if file.dir != nil && isExport(file) {
			return preview, fmt.Errorf("%s: an export of an account has no preview", file.shown)
		}
		refused := 0
		read, err := readFormats(ctx, order, file, func(rec stage.Record) error {
			if _, err := rec.Clean(); err != nil {
				refused++
			} else if len(preview.First) < PreviewRows {
				preview.First = append(preview.First, PreviewRow{file.shown, rec})
			}
			return nil
		})
		if err != nil {
			return preview, fmt.Errorf("read %s: %w", file.shown, err)
		}
		preview.Files = append(preview.Files, order.importedFile(file, read, refused))
	}
	return preview, nil
}

// readFormats reads one file in the formats of the feed.
func readFormats(ctx context.Context, order InputFiles, file importFile, emit func(stage.Record) error) (formats.Report, error) {
	options := order.options(file)
	if file.dir == nil {
		return formats.ReadStream(ctx, order.Input, file.shown, options, emit)
	}
	return formats.Read(ctx, file.dir, []string{file.name}, options, emit)
}

func (f InputFiles) options(file importFile) formats.Options {
	now := time.Now().UnixMilli()
	return formats.Options{
		Map: f.Map, MapFirst: true, Now: now, Format: f.Format, LineLimit: importLine,
		ObservedAt: f.observedAt(file, now), FileTime: f.ObservedAt == nil, Found: file.found, Watch: f.Watch,
	}
}

// checkMaps refuses column maps that name columns which their files do not have, before
// anything is stored.
func checkMaps(ctx context.Context, order InputFiles, files []importFile) error {
	var faults []error
	for _, file := range files {
		if file.dir == nil || isExport(file) {
			continue
		}
		if err := formats.CheckMaps(ctx, file.dir, file.name, order.options(file)); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", file.shown, err))
		}
	}
	return errors.Join(faults...)
}

// observedAt is the time of counts without a time of their own.
func (f InputFiles) observedAt(file importFile, now int64) *int64 {
	switch {
	case f.ObservedAt != nil:
		return f.ObservedAt
	case file.modified > 0:
		return &file.modified
	}
	return &now
}

// importedFile is what was read of a file.
func (f InputFiles) importedFile(file importFile, read formats.Report, refused int) ImportedFile {
	one := ImportedFile{
		File: file.shown, Formats: read.Formats, Read: read.Videos - refused, Doubtful: read.Doubtful, Skipped: read.Sorted(), Understood: read.Understanding,
	}
	if read.Videos > read.ObservedInFile {
		one.CountsAt, one.CountsFrom = *f.observedAt(file, time.Now().UnixMilli()), "the time of the file"
		switch {
		case f.ObservedAt != nil:
			one.CountsFrom = "--observed-at"
		case file.modified == 0:
			one.CountsFrom = "now"
		}
	}
	if file.passed > 0 {
		one.Skipped = append(one.Skipped, formats.Skip{
			Reason: formats.OtherFile, Count: file.passed, Detail: fmt.Sprintf("files in the folder of no kind that is read, the first %s", file.firstPassed),
		})
	}
	if refused > 0 {
		one.Skipped = append(one.Skipped, formats.Skip{Reason: formats.NoID, Count: refused})
	}
	return one
}
