package imports

import "cmp"

// The states of an import.
const (
	Queued    = "queued"
	ReadingIt = "reading"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Undoing   = "undoing"
	Undone    = "undone"
)

// Import is one file on its way into the library. Times in Unix milliseconds.
type Import struct {
	ID, AccountID int64
	Status, Name  string
	Bytes         int64
	Options       Options
	// Key is the idempotency key; nil for none.
	Key *string
	// Report is empty until the file was read.
	Report               Report
	ScrollID             int64
	Failure              *string
	Attempt              int
	CreatedAt, UpdatedAt int64
	CompletedAt          *int64

	// current is the run that is under way; zero unless the import is running.
	current Run
}

// Options say how to read the file.
type Options struct {
	Map        string `json:"map,omitempty"`
	Format     string `json:"format,omitempty"`
	ObservedAt int64  `json:"observedAt"`
	// TimeFrom is where ObservedAt is from.
	TimeFrom string `json:"timeFrom,omitempty"`
	// Most bounds the readings; 0 leaves that to the configuration.
	Most int `json:"most,omitempty"`
	// SeededBy is what led to the videos; empty for what the file says.
	SeededBy string `json:"seededBy,omitempty"`
}

// Where the time of counts is from that have none in the file.
const (
	fromRequest = "request"
	fromUpload  = "upload"
)

// Report says what was understood of a file, and what became of it.
type Report struct {
	// Read counts the readings.
	Read int `json:"read"`
	Understood
	// CountsAt is the time of counts that have none in the file, Unix milliseconds, and
	// CountsFrom where it is from; none if all have one.
	CountsAt   int64  `json:"countsAt,omitempty"`
	CountsFrom string `json:"countsFrom,omitempty"`
	// Differing counts readings that differ wildly from what the library knows, of which
	// Differences are the first.
	Differing   int          `json:"differing,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	// Runs in their order.
	Runs []DayRun `json:"runs,omitempty"`
	// DeletedVideos and DeletedReadings count what an undo deleted.
	DeletedVideos   int `json:"deletedVideos,omitempty"`
	DeletedReadings int `json:"deletedReadings,omitempty"`
}

// DayRun is one run of an import.
type DayRun struct {
	// Day as in 2026-01-31.
	Day      string `json:"day"`
	Readings int    `json:"readings"`
	// Number is that of its parts.
	Number int `json:"number"`
	// ScrollID is 0 until it is queued.
	ScrollID int64 `json:"scrollId,omitempty"`
	Counts
}

// Counts say what became of the readings of a run.
type Counts struct {
	// New videos were not in the library, Again were, and got a further reading. NoRoom are
	// new ones that the plan's bound left no room for.
	New    int `json:"new,omitempty"`
	Again  int `json:"again,omitempty"`
	NoRoom int `json:"noRoom,omitempty"`
}

// reportOf is the report of a file that was sorted into runs.
func reportOf(upload Upload, understood Understood, sorted *series) Report {
	report := Report{Understood: understood}
	for _, at := range sorted.ordered() {
		run := sorted.runs[at]
		report.Read += run.readings
		report.Runs = append(report.Runs, DayRun{Day: run.date(), Readings: run.readings, Number: at})
	}
	if len(report.Files) > 0 {
		whole := &report.Files[0]
		whole.Name, whole.Videos = upload.Name, report.Read
		if whole.CountsInFile < report.Read {
			report.CountsAt, report.CountsFrom = upload.ObservedAt, upload.TimeFrom
		}
	}
	return report
}

// upload is what came with the file.
func (i *Import) upload() Upload {
	o := i.Options
	return Upload{Name: i.Name, Map: o.Map, Format: o.Format, ObservedAt: o.ObservedAt, TimeFrom: cmp.Or(o.TimeFrom, fromRequest), Most: o.Most, SeededBy: o.SeededBy}
}

// run returns the place in the report of a scroll; -1 if it is none of its runs.
func (r *Report) run(scroll int64) int {
	for i := range r.Runs {
		if r.Runs[i].ScrollID == scroll {
			return i
		}
	}
	return -1
}

// counts of all runs, with the one that is under way.
func (i *Import) counts() (sum Counts, alreadyThere int) {
	done := 0
	for _, run := range i.Report.Runs {
		sum.New, sum.Again, sum.NoRoom = sum.New+run.New, sum.Again+run.Again, sum.NoRoom+run.NoRoom
		if run.ScrollID != 0 && (i.Status != Running || run.ScrollID != i.ScrollID) {
			done += run.Readings
		}
	}
	if alreadyThere = done - sum.New - sum.Again - sum.NoRoom; i.Status == Failed {
		alreadyThere = 0 // what was not stored was not there
	}
	sum.New, sum.Again, sum.NoRoom = sum.New+i.current.New, sum.Again+i.current.Again, sum.NoRoom+i.current.NoRoom
	return sum, max(0, alreadyThere)
}

// readingShare is the part of the progress that the reading of the file is.
const readingShare = 5

// percent is the progress.
func (i *Import) percent() float64 {
	switch i.Status {
	case Queued:
		return 0
	case ReadingIt:
		return 1
	case Running:
	default:
		return 100
	}
	done, total := 0.0, 0.0
	for _, run := range i.Report.Runs {
		total += float64(run.Readings)
		switch {
		case run.ScrollID == i.ScrollID:
			done += float64(run.Readings) * i.current.Percent / 100
		case run.ScrollID != 0:
			done += float64(run.Readings)
		}
	}
	return min(99, float64(int(readingShare+(100-readingShare)*done/max(total, 1))))
}
