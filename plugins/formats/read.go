package formats

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Options of a reading.
type Options struct {
	// Map reads files that have no map beside or above them.
	Map *Map
	// MapFirst has Map read those too that have one.
	MapFirst bool
	// Now is the time of the run in Unix milliseconds.
	Now int64
	// Format is the only one that is read; empty takes all.
	Format Format
	// ObservedAt is when the counts were read, in Unix milliseconds, of videos whose
	// file does not say it. Nil leaves that open.
	ObservedAt *int64
	// LineLimit is the longest line that is read; 0 is [LineLimit].
	LineLimit int
	// FileTime says that ObservedAt is the time of the file: files in a zip have their own.
	FileTime bool
	// Found says that the files were found in a folder, as against named: of those, web pages
	// without videos are passed over as other files. Those in a zip always are.
	Found bool
	// Sample counts `postedDaysAgo` back from the day of Now.
	Sample bool
	// Watch, if set, is called with the size of every portion of a file, as it is stored.
	Watch func(bytes int)

	// check lays the maps over the files, and reads no more.
	check bool
}

// Read reads files one after the other and emits their videos as they come,
// repeated ones too. Whatever is wrong inside a file is counted in the report;
// the error is that of ctx or emit.
func Read(ctx context.Context, files fs.FS, names []string, options Options, emit func(stage.Record) error) (Report, error) {
	r := newReading(ctx, options, emit)
	r.tables.files = files
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return r.out.report, err
		}
		if err := r.file(name); err != nil {
			return r.out.report, err
		}
	}
	return r.out.report, nil
}

// ReadStream reads what has no file, such as a pipe. Its name serves the notes.
func ReadStream(ctx context.Context, in io.Reader, name string, options Options, emit func(stage.Record) error) (Report, error) {
	r := newReading(ctx, options, emit)
	err := r.stream(in, name)
	return r.out.report, err
}

// reading is one pass over some files.
type reading struct {
	ctx     context.Context
	options Options
	out     *results
	tables  *tables
	// ended says that the file is at its end, wherever in a list that is.
	ended bool

	table  table
	parser parser
	// objects is the column map of the JSON file; nil without one.
	objects *objectTable
	// guessed says that the pending objects of the file were decided about.
	guessed bool
	// doubt says why they could not be read.
	doubt string
	// pending are objects in no known form, until there are enough to understand them.
	pending []pendingObject
	// lines are the names of a file with one list a line.
	lines listTable
	// rounded says that a program has rounded the ids of the JSON file.
	rounded bool
	// inZip is in how many zips the file is, and unpacked what may still be unpacked of the outer one.
	inZip    int
	unpacked *budget
}

// results are the videos of a reading, which it emits, and the report on them.
type results struct {
	options Options
	emit    func(stage.Record) error
	report  Report
	// name is that of the present file, and path are the members that lead to the present object.
	name string
	path []string
}

// tables finds the tables of files, understands their columns and reads their rows.
type tables struct {
	options Options
	out     *results
	files   fs.FS
	// mapFault is a map that does not fit the columns.
	mapFault error
	// since1904 says that the days of the present spreadsheet count from 1904.
	since1904 bool
	// linked reads where the cells of a sheet of the present spreadsheet lead.
	linked func(sheet string) cellLinks
	// marked says that a byte order mark names the encoding of the file.
	marked bool

	vocabulary *vocabulary
	known      []tool
}

// words is the vocabulary, made when the first table needs it.
func (r *tables) words() *vocabulary {
	if r.vocabulary == nil {
		r.vocabulary = readVocabulary()
	}
	return r.vocabulary
}

// tools are the known tools, made when the first table needs them.
func (r *tables) tools() []tool {
	if r.known == nil {
		r.known = readTools()
	}
	return r.known
}

func newReading(ctx context.Context, options Options, emit func(stage.Record) error) *reading {
	out := &results{
		options: options, report: Report{Formats: map[string]int{}, Skips: map[Reason]Skip{}},
		emit: func(rec stage.Record) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return emit(rec)
		},
	}
	return &reading{
		ctx: ctx, options: options, out: out, tables: &tables{options: options, out: out},
		table: all(), parser: newParser(),
	}
}

func (r *reading) lineLimit() int {
	if r.options.LineLimit > 0 {
		return r.options.LineLimit
	}
	return LineLimit
}

// emitError is an error that ends the whole reading.
type emitError struct{ cause error }

func (e *emitError) Error() string { return e.cause.Error() }
func (e *emitError) Unwrap() error { return e.cause }

// recordLimit leaves space for what a record's form adds to its texts.
const recordLimit = LineLimit - 64<<10

// draft finishes a record and takes it.
func (r *results) draft(d *draft, name Format, line int) error {
	if d.rec.Metadata == nil {
		d.rec.Metadata = d.meta.object()
	}
	if d.rec.Metrics.ObservedAt == nil {
		d.rec.Metrics.ObservedAt = d.scope.observed
	}
	r.report.Doubtful += d.doubtful
	for _, m := range d.misread {
		r.unread(m.Column, line, m.Text)
	}
	return r.take(d.rec, name, line)
}

func (r *results) take(rec stage.Record, name Format, line int) error {
	if size(rec) > recordLimit {
		if _, err := rec.Clean(); err != nil { // cuts each part down to its bound
			r.skip(NoID, line, err.Error())
			return nil
		}
		fitTracks(&rec)
	}
	const day = 24 * 3600 * 1000 // of a zone that the file does not name
	if rec.PostedAt != nil && r.options.Now > 0 && *rec.PostedAt > r.options.Now+day {
		r.unread("postedAt", line, time.UnixMilli(*rec.PostedAt).UTC().Format(time.RFC3339)+" is in the future")
		rec.PostedAt = nil
	}
	r.report.found(&rec)
	if rec.Metrics.ObservedAt == nil {
		rec.Metrics.ObservedAt = r.options.ObservedAt
	}
	r.report.Videos++
	r.report.place(r.place())
	r.report.Formats[string(name)]++
	if err := r.emit(rec); err != nil {
		return &emitError{err}
	}
	return nil
}

func (r *results) skip(reason Reason, line int, detail string) {
	r.report.skip(r.name, reason, line, detail)
}

func (r *reading) file(name string) error {
	r.out.name = name
	file, err := r.tables.files.Open(name)
	if err != nil {
		r.out.skip(Unreadable, 0, "open: "+err.Error())
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	before := r.taken()
	if done, err := r.packed(file, name); done {
		r.out.report.Files++
		return r.end(err, before)
	}
	return r.stream(file, name)
}

func (r *reading) stream(in io.Reader, name string) error {
	r.out.name, r.ended, r.objects, r.guessed = name, false, nil, false
	r.out.report.Files++
	before := r.taken()
	err := r.content(&watched{r, in}, name)
	if err == nil {
		err = r.settle()
	}
	if words := r.objects.missing(); words != "" {
		r.out.report.Form = append([]string{words}, r.out.report.Form...)
	}
	return r.end(err, before)
}

// end completes the report of a file. The error is one that ends the whole reading.
func (r *reading) end(err error, before int) error {
	var refused *emitError
	switch {
	case errors.As(err, &refused):
		return refused.cause
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.out.skip(Truncated, 0, "the file is not whole: "+err.Error())
	case errors.Is(err, errBomb):
		r.out.skip(TooLong, 0, err.Error())
	case err != nil:
		r.out.skip(Unreadable, 0, err.Error())
	case r.taken() == before && !r.options.check:
		r.out.skip(Empty, 0, "the file is empty, or a list without entries: there are no videos in it")
	}
	return nil
}

// watched reports what is read, and stops when the reading is to stop.
type watched struct {
	r  *reading
	in io.Reader
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.in.Read(p)
	if w.r.options.Watch != nil && n > 0 {
		w.r.options.Watch(n)
	}
	return n, err
}

func (r *reading) content(file io.Reader, name string) error {
	in, marked, err := unpack(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return err
	}
	r.tables.marked = marked
	if words := otherKind(in); words != "" {
		return errors.New(words)
	}
	if start, _ := in.Peek(512); ownHistory().Match(start) {
		r.out.skip(OwnArchive, 0, "TikTok's data download of an own account, as text"+collectAdvice)
		return nil
	}
	script(in)
	if in, err = fromPython(in); err != nil {
		return err
	}
	form := misnamed(formOf(name), in)
	switch {
	case isPage(in):
		return r.page(in, name)
	case r.options.Format == CSV:
		form = tableForm
	case r.options.Format != "" && form == tableForm, form == "", form == packedForm, form == pageForm:
		form = guess(in)
	}
	switch form {
	case tableForm:
		return r.tables.csv(in, name)
	default:
		if err := r.layObjects(name); err != nil {
			return err
		}
		if r.options.check && r.objects == nil {
			return nil
		}
		if r.objects != nil && r.options.MapFirst && !r.options.check && r.tables.files != nil && r.inZip == 0 {
			// A table shows its columns before its rows, objects do not.
			if err := CheckMaps(r.ctx, r.tables.files, name, r.options); err != nil {
				return err
			}
		}
		err := r.json(in, form == linesForm)
		if words := r.objects.missing(); words != "" && r.options.check {
			r.tables.mapFault = errors.New(words)
		}
		return err
	}
}

// CheckMaps reports a column map that names columns which a file does not have, or members that
// none of its objects has. It reads no more of the file than shows them, and finds no other fault.
func CheckMaps(ctx context.Context, files fs.FS, name string, options Options) error {
	options.check, options.Watch = true, nil
	r := newReading(ctx, options, func(stage.Record) error { return nil })
	r.tables.files = files
	if err := r.file(name); err != nil {
		return err
	}
	return r.tables.mapFault
}
