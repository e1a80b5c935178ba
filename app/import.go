package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/plugins/feed/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// ImportOrder says what to import for whom.
type ImportOrder struct {
	// Email of the account.
	Email string
	// Paths are files and folders; `-` is Input.
	Paths []string
	Input io.Reader
	// Map reads all CSV files; nil leaves them to the maps beside them.
	Map *formats.Map
	// Format is the only one that is read; empty takes all.
	Format formats.Format
	// ObservedAt is when the counts were read that do not say it themselves, in Unix
	// milliseconds. Nil takes the time of the file, and now for Input.
	ObservedAt *int64
	// Begin, if set, is told how many bytes there are; -1 where nobody knows.
	Begin func(bytes int64)
	// Watch, if set, is told of every portion that was read.
	Watch func(bytes int)
}

// ImportReport says what an import did.
type ImportReport struct {
	// ScrollID is empty where nothing was new.
	ScrollID string         `json:"scrollId,omitempty"`
	Total    ImportedFile   `json:"total"`
	Files    []ImportedFile `json:"files"`
}

// ImportedFile is what became of one file. Read is the sum of New, SeenAgain,
// AlreadyThere and Repeated.
type ImportedFile struct {
	File string `json:"file,omitempty"`
	// Formats counts the videos of each format.
	Formats map[string]int `json:"formats,omitempty"`
	Read    int            `json:"read"`
	// New were not in the library. SeenAgain were, and have one more observation.
	New       int `json:"new"`
	SeenAgain int `json:"seenAgain"`
	// AlreadyThere are readings that the library had, as of an import before.
	AlreadyThere int `json:"alreadyThere"`
	// Repeated are further readings of videos of the same import.
	Repeated int `json:"repeated"`
	// Doubtful counts values that made no sense; their videos are kept without them.
	Doubtful int            `json:"doubtfulValues"`
	Skipped  []formats.Skip `json:"skipped"`
}

// importBatch is how many videos are handed over at once.
const importBatch = 200

// importLine is the longest line of a file that is imported: what yt-dlp says of a
// video with all its subtitles can be more than a feed's line may be.
const importLine = 32 << 20

// Import loads files into the library of an address. The report is whole where the
// error is nil, and tells how far it came where it is not.
func (o *Operator) Import(ctx context.Context, order ImportOrder) (ImportReport, error) {
	ctx, err := o.tenant(ctx, order.Email)
	if err != nil {
		return ImportReport{}, err
	}
	files, err := findFiles(order.Paths)
	if err != nil {
		return ImportReport{}, err
	}
	if order.Begin != nil {
		order.Begin(sizeOf(files))
	}
	reading := readFiles(ctx, order, files)
	defer reading.stop()
	done, err := o.scrolls.Import(ctx, reading.next)
	return reading.report(done), err
}

// fileReading turns the reader's pushes into batches that are pulled.
type fileReading struct {
	order   ImportOrder
	files   []importFile
	reports []formats.Report
	refused []int
	batch   []scrolls.Reading
	pull    func() ([]scrolls.Reading, error, bool)
	stop    func()
}

func readFiles(ctx context.Context, order ImportOrder, files []importFile) *fileReading {
	r := &fileReading{order: order, files: files, refused: make([]int, len(files)), reports: make([]formats.Report, len(files))}
	r.pull, r.stop = iter.Pull2(func(yield func([]scrolls.Reading, error) bool) {
		for part, file := range files {
			report, err := r.read(ctx, file, part, yield)
			if r.reports[part] = report; err != nil {
				yield(nil, fmt.Errorf("read %s: %w", file.shown, err))
				return
			}
		}
		if len(r.batch) > 0 {
			yield(r.batch, nil)
		}
	})
	return r
}

// read reads one file, and yields whatever batches that fills.
func (r *fileReading) read(ctx context.Context, file importFile, part int, yield func([]scrolls.Reading, error) bool) (formats.Report, error) {
	now := time.Now().UnixMilli()
	options := formats.Options{
		Map: r.order.Map, MapFirst: true, Now: now, Format: r.order.Format, LineLimit: importLine,
		ObservedAt: r.order.ObservedAt, Watch: r.order.Watch,
	}
	if options.ObservedAt == nil {
		options.ObservedAt = &now
		if file.modified > 0 {
			options.ObservedAt = &file.modified
		}
	}
	emit := func(rec stage.Record) error {
		if _, err := rec.Clean(); err != nil {
			r.refused[part]++
			return nil
		}
		if rec.Metrics.ObservedAt == nil { // it had one out of all bounds
			rec.Metrics.ObservedAt = options.ObservedAt
		}
		if r.batch = append(r.batch, scrolls.Reading{Record: rec, Part: part}); len(r.batch) < importBatch {
			return nil
		}
		full := r.batch
		r.batch = nil
		if !yield(full, nil) {
			return context.Canceled
		}
		return nil
	}
	if file.dir == nil {
		return formats.ReadStream(ctx, r.order.Input, file.shown, options, emit)
	}
	return formats.Read(ctx, file.dir, []string{file.name}, options, emit)
}

func (r *fileReading) next() ([]scrolls.Reading, error) {
	batch, err, more := r.pull()
	if !more {
		return nil, io.EOF
	}
	return batch, err
}

func (r *fileReading) report(done scrolls.Imported) ImportReport {
	report := ImportReport{Files: make([]ImportedFile, len(r.files)), Total: ImportedFile{Formats: map[string]int{}, Skipped: []formats.Skip{}}}
	if done.ScrollID != 0 {
		report.ScrollID = publicid.Format(publicid.Scroll, done.ScrollID)
	}
	for part, file := range r.files {
		var tally scrolls.Tally
		if part < len(done.Parts) {
			tally = done.Parts[part]
		}
		read := r.reports[part]
		refused := r.refused[part] + tally.Refused
		one := ImportedFile{
			File: file.shown, Formats: read.Formats, Read: read.Videos - refused, New: tally.New, SeenAgain: tally.Again,
			AlreadyThere: tally.Same, Repeated: tally.Repeated, Doubtful: read.Doubtful, Skipped: read.Sorted(),
		}
		if refused > 0 {
			one.Skipped = append(one.Skipped, formats.Skip{Reason: formats.NoID, Count: refused})
		}
		report.Files[part] = one
		report.Total.add(one)
	}
	return report
}

func (f *ImportedFile) add(one ImportedFile) {
	for name, n := range one.Formats {
		f.Formats[name] += n
	}
	f.Read += one.Read
	f.New += one.New
	f.SeenAgain += one.SeenAgain
	f.AlreadyThere += one.AlreadyThere
	f.Repeated += one.Repeated
	f.Doubtful += one.Doubtful
	for _, skip := range one.Skipped {
		f.skip(formats.Skip{Reason: skip.Reason, Count: skip.Count})
	}
}

func (f *ImportedFile) skip(skip formats.Skip) {
	for i := range f.Skipped {
		if f.Skipped[i].Reason == skip.Reason {
			f.Skipped[i].Count += skip.Count
			return
		}
	}
	f.Skipped = append(f.Skipped, skip)
}
