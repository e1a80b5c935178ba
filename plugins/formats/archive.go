package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Bounds of a zip: how many files it may have, how many bytes they may have together, and how
// many times as large they may be as the zip, once they are larger than ratioFrom.
const (
	maxEntries  = 10_000
	maxUnpacked = 8 << 30
	maxRatio    = 300
	ratioFrom   = 64 << 20
	// maxZips is how many zips a file may be in.
	maxZips = 1
	// maxBook is how large a spreadsheet may be, as it is stored, and maxHeld one that is in
	// a zip and so has to be held at once.
	maxBook = 64 << 20
	maxHeld = 16 << 20
)

// Entry is a file in a zip.
type Entry struct {
	File   string `json:"file"`
	Videos int    `json:"videos"`
	Understanding
}

// maxReportedEntries is how many files of a zip a report describes.
const maxReportedEntries = 50

// errBomb ends a zip that unpacks to more than may be read.
var errBomb = errors.New("it unpacks to more than is read: name the files one by one")

// budget is how many bytes and files of a zip may still be unpacked, with those of the zips in it.
type budget struct {
	left  int64
	files int
}

// bounded counts what is unpacked.
type bounded struct {
	in     io.Reader
	budget *budget
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.budget.left -= int64(n); b.budget.left < 0 {
		return 0, errBomb
	}
	return n, err
}

// packed reads a zip or a spreadsheet, which is one. Anything else is left to the caller.
func (r *reading) packed(file io.Reader, name string) (done bool, err error) {
	at, ok := file.(io.ReaderAt)
	sized, ok2 := file.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || !ok2 {
		return false, nil
	}
	magic := make([]byte, 4)
	if _, err := at.ReadAt(magic, 0); err != nil || string(magic) != "PK\x03\x04" && string(magic) != "PK\x05\x06" {
		return false, nil
	}
	info, err := sized.Stat()
	if err != nil {
		return true, err
	}
	return true, r.zip(at, info.Size(), name)
}

func (r *reading) zip(at io.ReaderAt, size int64, name string) error {
	archive, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("a zip that cannot be read: %w", err)
	}
	left := r.unpacked
	if left == nil {
		left = &budget{min(maxUnpacked, max(ratioFrom, maxRatio*size)), maxEntries}
	}
	if left.files -= len(archive.File); left.files < 0 {
		return fmt.Errorf("a zip of %d files: at most %d are read; unpack it and name the folder", len(archive.File), maxEntries)
	}
	if slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" }) {
		if r.options.Watch != nil {
			r.options.Watch(int(size))
		}
		return r.tables.excel(at, size, name)
	}
	for part, words := range map[string]string{
		"content.xml": "a spreadsheet or a text of OpenDocument: save its table as .xlsx or CSV", "word/document.xml": "a document of Word: save its table as CSV",
		"ppt/presentation.xml": "slides of PowerPoint: save the table as CSV", "xl/workbook.bin": "Excel's binary format: save it as .xlsx or CSV", "Index/Document.iwa": "a file of Numbers or Pages: export it as .xlsx or CSV",
	} {
		if slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == part }) {
			return errors.New(words)
		}
	}
	if r.inZip > maxZips {
		return errors.New("a zip in a zip in a zip: unpack it first")
	}
	if len(archive.File) == 0 {
		r.out.skip(Empty, 0, "a zip without files")
	}
	r.out.report.form("a zip of %d files", len(archive.File))
	for _, entry := range archive.File {
		if err := r.entry(archive, entry, left); err != nil {
			return err
		}
	}
	if r.options.Watch != nil {
		r.options.Watch(int(size))
	}
	return nil
}

// entry reads one file of a zip.
func (r *reading) entry(archive *zip.Reader, entry *zip.File, left *budget) error {
	base := path.Base(entry.Name)
	switch {
	case strings.HasSuffix(entry.Name, "/"), strings.HasPrefix(base, "."), strings.HasPrefix(entry.Name, "__MACOSX/"), strings.HasSuffix(base, ".map.json"):
		return nil
	case !Known(entry.Name):
		r.out.skip(OtherFile, 0, fmt.Sprintf("%.60s is of no kind that is read", entry.Name))
		return nil
	}
	in, err := entry.Open()
	if err != nil {
		r.out.skip(Unreadable, 0, fmt.Sprintf("%.60s: %v", entry.Name, err))
		return nil
	}
	defer func() { _ = in.Close() }() // only read
	options := r.options
	options.Watch = nil
	if options.FileTime && entry.Modified.Year() >= 2000 && (options.Now == 0 || entry.Modified.UnixMilli() < options.Now) {
		at := entry.Modified.UnixMilli()
		options.ObservedAt = &at
	}
	inner := newReading(r.ctx, options, func(rec stage.Record) error { return r.out.emit(rec) })
	inner.unpacked, inner.inZip = left, r.inZip+1
	inner.tables.files, inner.tables.vocabulary, inner.tables.known = archive, r.tables.words(), r.tables.tools()
	var source io.Reader = &bounded{in, left}
	if strings.EqualFold(path.Ext(entry.Name), ".xlsx") || strings.EqualFold(path.Ext(entry.Name), ".zip") {
		text, fault := io.ReadAll(io.LimitReader(source, maxHeld+1))
		if fault != nil || len(text) > maxHeld {
			r.out.skip(TooLong, 0, fmt.Sprintf("%.60s: more than may be held at once", entry.Name))
			return nil
		}
		err = inner.inMemory(text, entry.Name)
	} else {
		err = inner.stream(source, entry.Name)
	}
	r.out.merge(entry.Name, &inner.out.report)
	switch {
	case err != nil: // it ends the whole reading
		return &emitError{err}
	case left.left < 0:
		return errBomb
	}
	return nil
}

// inMemory reads a packed file of a zip.
func (r *reading) inMemory(text []byte, name string) error {
	r.out.name = name
	r.out.report.Files++
	before := r.taken()
	err := r.zip(bytes.NewReader(text), int64(len(text)), name)
	return r.end(err, before)
}

// merge adds the report of a file in a zip.
func (r *results) merge(name string, inner *Report) {
	r.report.Videos += inner.Videos
	r.report.Doubtful += inner.Doubtful
	r.report.ObservedInFile += inner.ObservedInFile
	for form, n := range inner.Formats {
		r.report.Formats[form] += n
	}
	for field, n := range inner.Fields {
		if r.report.Fields == nil {
			r.report.Fields = map[string]int{}
		}
		r.report.Fields[field] += n
	}
	for _, skip := range inner.Sorted() {
		skip.Detail = name + ": " + skip.Detail
		known, had := r.report.Skips[skip.Reason]
		if had {
			known.Count += skip.Count
			skip = known
		}
		r.report.Skips[skip.Reason] = skip
	}
	for _, note := range inner.Notes {
		r.report.note("%s", note)
	}
	for _, entry := range append([]Entry{{"", inner.Videos, inner.Understanding}}, inner.Entries...) {
		if len(r.report.Entries) < maxReportedEntries {
			entry.File = path.Join(name, entry.File)
			r.report.Entries = append(r.report.Entries, entry)
		}
	}
}
