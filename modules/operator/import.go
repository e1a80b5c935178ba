package operator

import (
	"context"
	"io"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/plugins/formats"
)

// ImportOrder says what to import for whom.
type ImportOrder struct {
	// Email of the account.
	Email string
	InputFiles
}

// InputFiles says which files to read, and how.
type InputFiles struct {
	// Paths are files and folders; `-` is Input.
	Paths []string
	Input io.Reader
	// Map reads all CSV files; nil uses the maps beside them.
	Map *formats.Map
	// Format is the only one that is read; empty takes all.
	Format formats.Format
	// ObservedAt is the time of counts that carry none, in Unix milliseconds. Nil
	// takes the time of the file, and now for Input.
	ObservedAt *int64
	// Begin, if set, gets the number of bytes to read; -1 where it is unknown.
	Begin func(bytes int64)
	// Watch, if set, gets the size of every portion that was read.
	Watch func(bytes int)
}

// ImportReport says what an import did.
type ImportReport struct {
	// ScrollID is empty if nothing was new.
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
	// AlreadyThere are readings that the library had before, as of an earlier import.
	AlreadyThere int `json:"alreadyThere"`
	// Repeated are further readings of videos of the same import.
	Repeated int `json:"repeated"`
	// Doubtful counts values that made no sense; their videos are kept without them.
	Doubtful int            `json:"doubtfulValues"`
	Skipped  []formats.Skip `json:"skipped"`
	// Understood is what the file was taken for.
	Understood formats.Understanding `json:"understood,omitzero"`
	// CountsAt is the time of counts that have none in the file, in Unix milliseconds, and
	// CountsFrom where it is from.
	CountsAt   int64  `json:"countsAt,omitempty"`
	CountsFrom string `json:"countsFrom,omitempty"`
}

// importBatch is how many videos are handed over at once.
const importBatch = 200

// importLine is the longest line of an imported file, in bytes. It is longer than
// a feed's, since yt-dlp's JSON of a video can hold all its subtitles.
const importLine = 32 << 20

// Import loads files into the library of an address. With an error, the report
// counts what was imported before it.
func (s *Service) Import(ctx context.Context, order ImportOrder) (ImportReport, error) {
	ctx, err := s.tenant(ctx, order.Email)
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
	if err := checkMaps(ctx, order.InputFiles, files); err != nil {
		return ImportReport{}, err
	}
	if err := s.restoreBriefs(ctx, files); err != nil {
		return ImportReport{}, err
	}
	size, stream, watch := sizeOf(files), isStream(files), order.Watch
	if !stream {
		order.Watch = nil // the storing takes most of the time
	}
	reading := readFiles(ctx, order.InputFiles, files)
	defer reading.stop()
	done, err := s.needs.Importer.Import(ctx, ReadingOrder{Next: reading.next, Stream: stream, Stored: func(readings, total int) {
		if !stream && watch != nil {
			watch(int(size * int64(readings) / int64(total)))
		}
	}})
	if err == nil {
		err = s.restoreMarks(ctx, files)
	}
	reading.stop() // which completes the reports of files that were not read to their end
	report := reading.report(done)
	if err != nil {
		report.onlyStored()
	}
	return report, err
}

// onlyStored leaves out of the counts what was read and not imported.
func (r *ImportReport) onlyStored() {
	r.Total.Read = 0
	for i := range r.Files {
		f := &r.Files[i]
		f.Read = f.New + f.SeenAgain + f.AlreadyThere + f.Repeated
		r.Total.Read += f.Read
	}
}

func (r *fileReading) report(done Imported) ImportReport {
	report := ImportReport{Files: make([]ImportedFile, len(r.files)), Total: ImportedFile{Formats: map[string]int{}, Skipped: []formats.Skip{}}}
	if done.ScrollID != 0 {
		report.ScrollID = publicid.Format(publicid.Scroll, done.ScrollID)
	}
	read := r.filesRead()
	for part, file := range r.files {
		var tally Tally
		if part < len(done.Parts) {
			tally = done.Parts[part]
		}
		one := r.order.importedFile(file, read[part].report, read[part].refused+tally.Refused)
		one.New, one.SeenAgain, one.AlreadyThere, one.Repeated = tally.New, tally.Again, tally.Same, tally.Repeated
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
