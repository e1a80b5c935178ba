package feed

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Options of a reading.
type Options struct {
	// Map reads CSV files that have no map beside or above them.
	Map *Map
	// Now is the time of the run in Unix milliseconds.
	Now int64

	sample bool
}

// Report says what a reading took and what it left out.
type Report struct {
	Files int
	// Videos that were read, repeated ones included.
	Videos int
	// Broken counts lines, rows and values that are no video.
	Broken int
	// Long counts lines above 1 MiB.
	Long int
	// Doubtful counts values that make no sense, such as views below zero; the
	// video is kept without them.
	Doubtful int
	// Filtered counts rows that the filter of a column map left out.
	Filtered int
	// Notes say where and why; at most twenty.
	Notes []string
}

// Skipped is how much of the input could not be read.
func (r Report) Skipped() int { return r.Broken + r.Long }

func (r *Report) note(format string, args ...any) {
	if len(r.Notes) < 20 {
		r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	}
}

// ReadFile reads one feed file of any form; see Read.
func ReadFile(ctx context.Context, name string, options Options, emit func(stage.Record) error) (Report, error) {
	dir, file := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(name); err != nil {
		return Report{}, err
	}
	return Read(ctx, os.DirFS(dir), []string{file}, options, emit)
}

// Read reads feed files one after the other and emits their videos as they come,
// repeated ones too. Whatever is wrong inside a file is counted in the report;
// the error is that of ctx or emit.
func Read(ctx context.Context, files fs.FS, names []string, options Options, emit func(stage.Record) error) (Report, error) {
	r := &reading{files: files, options: options, emit: func(rec stage.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return emit(rec)
	}}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return r.report, err
		}
		if err := r.file(name); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// reading is one pass over some files.
type reading struct {
	files   fs.FS
	options Options
	emit    func(stage.Record) error
	report  Report
	name    string
}

// emitError is an error that ends the whole reading.
type emitError struct{ cause error }

func (e *emitError) Error() string { return e.cause.Error() }
func (e *emitError) Unwrap() error { return e.cause }

// recordLimit leaves room for what a record's form adds to its texts.
const recordLimit = lineLimit - 64<<10

func (r *reading) take(rec stage.Record) error {
	if size(rec) > recordLimit {
		r.report.Long++
		r.report.note("%s: a video of more than %d bytes", r.name, recordLimit)
		return nil
	}
	r.report.Videos++
	if err := r.emit(rec); err != nil {
		return &emitError{err}
	}
	return nil
}

func (r *reading) broken(where string, err error) {
	r.report.Broken++
	r.report.note("%s: %s: %v", r.name, where, err)
}

var bom = []byte("\xef\xbb\xbf")

// known tells whether the name is that of a feed file.
func known(name string) bool {
	return form(name) != ""
}

// form is the form of a file by its name: `lines`, `json`, `csv`; empty for others.
func form(name string) string {
	name = strings.TrimSuffix(strings.ToLower(path.Base(name)), ".gz")
	switch {
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, ".map.json"):
		return ""
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".ndjson"):
		return "lines"
	case strings.HasSuffix(name, ".json"):
		return "json"
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".tsv"):
		return "csv"
	}
	return ""
}

func (r *reading) file(name string) error {
	r.name = name
	file, err := r.files.Open(name)
	if err != nil {
		r.broken("open", err)
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	r.report.Files++
	err = r.content(file, name)
	var refused *emitError
	if errors.As(err, &refused) {
		return refused.cause
	}
	if err != nil {
		r.broken("read", err)
	}
	return nil
}

func (r *reading) content(file io.Reader, name string) error {
	in := bufio.NewReaderSize(file, 1<<16)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReaderSize(packed, 1<<16)
	}
	if start, err := in.Peek(3); err == nil && string(start) == string(bom) {
		if _, err := in.Discard(3); err != nil {
			return err
		}
	}
	switch form(name) {
	case "lines":
		return r.jsonLines(in)
	case "json":
		return r.documents(in)
	case "csv":
		return r.csv(in, name)
	}
	return errors.New("neither JSON Lines, JSON nor CSV by its name")
}

// size is about how many bytes a record takes on its way.
func size(rec stage.Record) int {
	n := len(rec.SourceURL) + len(rec.CreatorID) + len(rec.Metadata) + 24*(len(rec.Cues)+len(rec.Stickers)+len(rec.Keys))
	if rec.Source != nil {
		n += len(rec.Source.Handle) + len(rec.Source.Kind) + len(rec.Source.SeededBy)
	}
	if e := rec.Evidence; e != nil {
		n += len(e.Visual)
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	for _, cue := range rec.Cues {
		n += len(cue.Text)
	}
	for _, sticker := range rec.Stickers {
		n += len(sticker.Text)
	}
	for _, key := range rec.Keys {
		n += len(key.Key) + len(key.Label)
	}
	return n
}
