package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Reader is the need of a process that reads one file.
type Reader interface {
	// Read calls emit with the records of a file, and returns what was understood of it.
	// The error is a *FileError if the file is at fault.
	Read(ctx context.Context, file File, emit func([]stage.Record) error) (Understood, error)
}

// Scrolls is the need of runs.
type Scrolls interface {
	// QueueImport queues a run in the transaction and returns its scroll.
	QueueImport(ctx context.Context, tx *store.Tx) (scrollID int64, err error)
	// RunOf returns how far the run of a scroll is.
	RunOf(ctx context.Context, scrollID int64) (Run, error)
	// Import takes readings as one run, and returns when that has ended. With an error, the
	// result counts what is stored.
	Import(ctx context.Context, next func() ([]Reading, error)) (Imported, error)
}

// Plans is the need of what the tenant of the context may bring.
type Plans interface {
	Limits(ctx context.Context) (Limits, error)
	// Briefed reports whether there is a workspace.
	Briefed(ctx context.Context) (bool, error)
}

// Charger is the need of the budget: units are spent with the transaction.
type Charger interface {
	Charge(ctx context.Context, tx *store.Tx, accountID int64, units int) error
}

// Library is the need of a library that knows videos and forgets runs.
type Library interface {
	// LastRead returns what is known of those of some videos that the library has.
	LastRead(ctx context.Context, refs []stage.Ref) (map[stage.Ref]stage.Record, error)
	// Forget deletes the readings of some scrolls, and the videos that no other scroll has
	// read. Doing it twice changes nothing. counts is called in each transaction with what
	// that deleted.
	Forget(ctx context.Context, scrollIDs []int64, counts func(ctx context.Context, tx *store.Tx, videos, readings int) error) error
}

// Needs is everything that this module needs of others.
type Needs struct {
	Reader  Reader
	Scrolls Scrolls
	Plans   Plans
	Charger Charger
	Library Library
}

// Limits of a plan.
type Limits struct {
	// MaxBytes of one file.
	MaxBytes int64
	// Room is how many more videos the library may have, of MaxVideos.
	Room, MaxVideos int
}

// File is a file to read.
type File struct {
	// Name as it was sent: its endings tell a table from JSON.
	Name string
	// Map is a column map as JSON; empty for none. Format is the only one to read; empty
	// for all.
	Map, Format string
	// ObservedAt is the time of counts without one of their own, Unix milliseconds.
	ObservedAt int64
	// Write writes the content.
	Write func(io.Writer) error
}

// FileError is a fault of the file, in words for the caller.
type FileError struct{ Message string }

func (e *FileError) Error() string { return e.Message }

// Understood is what a file had besides its records.
type Understood struct {
	Doubtful int            `json:"doubtful,omitempty"`
	Formats  map[string]int `json:"formats,omitempty"`
	Skips    []Skip         `json:"skips,omitempty"`
	// Files are the file as a whole, and after it those of a zip.
	Files []ReadFile `json:"files,omitempty"`
}

// ReadFile is what one file was taken for. Its texts may quote the file.
type ReadFile struct {
	// Name is that in the zip; empty for the file as a whole.
	Name   string `json:"name,omitempty"`
	Videos int    `json:"videos,omitempty"`
	// Form says how it was laid out, and why it was read so.
	Form []string `json:"form,omitempty"`
	// Fields counts the readings in which each field was found, and Places the readings by
	// where in a JSON file they were.
	Fields map[string]int `json:"fields,omitempty"`
	Places map[string]int `json:"places,omitempty"`
	// CountsInFile counts the readings whose counts have a time in the file.
	CountsInFile int `json:"countsInFile,omitempty"`
	// Columns are those of a table; MoreColumns counts those that are not listed.
	Columns     []Column `json:"columns,omitempty"`
	MoreColumns int      `json:"moreColumns,omitempty"`
	// NotUnderstood are the first texts that were no value of their field.
	NotUnderstood []Text `json:"notUnderstood,omitempty"`
	// Map is the column map of a table, as JSON; if Doubtful, it is only one to start from.
	Map      string `json:"map,omitempty"`
	Doubtful bool   `json:"doubtful,omitempty"`
}

// Column is what became of a column.
type Column struct {
	Name string `json:"name"`
	// Field is empty if the column was not used.
	Field  string `json:"field,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Text is one that was not understood.
type Text struct {
	Column string `json:"column"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
}

// Skip counts what was left out for one reason.
type Skip struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Line of the first one, 0 for the whole file, and what was wrong with it.
	Line   int    `json:"line,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Run is one run of an import.
type Run struct {
	// Ended and Completed: a run that ended without being completed failed, or was cancelled.
	Ended, Completed bool
	Percent          float64
	// New, Again and NoRoom count videos, see Counts.
	New, Again, NoRoom int
	// Cause is why it failed, in words for its tenant.
	Cause string
}

// Reading is one record of an import.
type Reading struct {
	Record stage.Record
	// Part is the number, from 0, of the part of the import that it came from, such as a file.
	Part int
}

// Imported is the result of runs that a command waited for.
type Imported struct {
	// ScrollID is the scroll of the first run; 0 if nothing was new.
	ScrollID int64
	// Parts are the tallies by [Reading.Part].
	Parts []Tally
}

// Tally counts what became of readings, as the module scrolls has it.
type Tally struct{ New, Again, Same, Repeated, Refused int }

// Service takes files and follows their imports.
type Service struct {
	db    *store.DB
	cfg   Config
	needs Needs
	log   *slog.Logger
	now   func() time.Time
}

// New returns the module's service.
func New(db *store.DB, cfg Config, needs Needs, log *slog.Logger) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Service{db: db, cfg: cfg, needs: needs, log: log, now: time.Now}, nil
}

// Upload is what a caller sends besides the file.
type Upload struct {
	Name, Map, Format string
	// ObservedAt in Unix milliseconds; 0 for now.
	ObservedAt int64
	// TimeFrom is where ObservedAt is from; it is set with it.
	TimeFrom string
	// Key makes the upload repeatable; empty for none.
	Key string
	// Named, if set, names the file by what it has, once it was read: another upload of the same
	// returns the import of the first, unless that failed or was undone.
	Named func() string
	// SeededBy is what led to videos of which the file does not say it; empty for nothing.
	SeededBy string
	// Most bounds the readings; 0 leaves that to the configuration.
	Most int
}

// timed is the upload with the time of counts that have none of their own.
func (u Upload) timed(now time.Time) Upload {
	switch {
	case u.ObservedAt == 0:
		u.ObservedAt, u.TimeFrom = now.UnixMilli(), fromUpload
	case u.TimeFrom == "":
		u.TimeFrom = fromRequest
	}
	return u
}

// Create stores a file, and queues its import; or returns the one that the key of the upload
// queued. It reads the file to its end, unless it refuses it.
func (s *Service) Create(ctx context.Context, upload Upload, file io.Reader) (made *Import, created bool, err error) {
	account, err := tenantOf(ctx)
	if err != nil {
		return nil, false, err
	}
	if upload.Key != "" {
		if made, err = s.byKey(ctx, upload.Key); made != nil || err != nil {
			return made, false, err
		}
	}
	limits, err := s.admit(ctx)
	if err != nil {
		return nil, false, err
	}
	id := s.db.NewID()
	size, err := s.storeFile(ctx, id, limits.MaxBytes, file)
	if err == nil && upload.Named != nil {
		upload.Key, err = s.keyOf(ctx, upload.Named())
	}
	if err == nil {
		made, created, err = s.insert(ctx, account, id, size, upload)
	}
	if !created {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if failed := s.deleteParts(after, id, allParts); failed != nil {
			s.log.Warn("parts of a refused file are left until they are swept", "error", failed)
		}
	}
	if err != nil {
		return nil, false, err
	}
	return made, created, nil
}

// keyOf is the key of a file by its name: that of the import that has not come to nothing, or
// the next one.
func (s *Service) keyOf(ctx context.Context, name string) (string, error) {
	for n := 0; ; n++ {
		key := fmt.Sprintf("%s-%d", name, n)
		before, err := s.byKey(ctx, key)
		if err != nil || before == nil || !slices.Contains([]string{Failed, Undoing, Undone}, before.Status) {
			return key, err
		}
	}
}

func tenantOf(ctx context.Context) (int64, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all || account == 0 {
		return 0, errors.New("imports: no tenant in the context")
	}
	return account, nil
}

// admit refuses a file before it is read.
func (s *Service) admit(ctx context.Context) (Limits, error) {
	briefed, err := s.needs.Plans.Briefed(ctx)
	if err != nil {
		return Limits{}, fmt.Errorf("import: workspace: %w", err)
	}
	if !briefed {
		return Limits{}, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you import videos.")
	}
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return limits, fmt.Errorf("import: limits: %w", err)
	}
	if limits.Room <= 0 {
		return limits, apierr.Invalid("", "the library has %d videos, as many as the plan allows; undo an import, or change the plan", limits.MaxVideos)
	}
	active, err := s.countActive(ctx)
	if err == nil && active >= s.cfg.Active {
		err = &apierr.Error{
			Kind: apierr.RateLimited, RetryAfter: 10 * time.Second,
			Message: fmt.Sprintf("%d imports have not ended, as many as an account may have. Wait until one has.", active),
		}
	}
	return limits, err
}

// filePart is how many bytes a part of the file has.
const filePart = 1 << 20

// bounded fails once a file has more than the most bytes.
type bounded struct {
	file      io.Reader
	most, had int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	if b.had += int64(n); b.had > b.most {
		return 0, apierr.Invalid("", "the file is larger than %d MiB, the most that the plan takes; pack it by gzip, or send it in parts", b.most>>20)
	}
	return n, err
}

var errUpload = apierr.Invalid("", "the file could not be read to its end; send it again")

// storeFile stores the parts of a file, and returns its size.
func (s *Service) storeFile(ctx context.Context, id, most int64, file io.Reader) (size int64, err error) {
	in := &bounded{file: file, most: most}
	part := make([]byte, filePart)
	for number := 0; ; number++ {
		n, err := io.ReadFull(in, part)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err == nil || end && n > 0:
			if err := s.storePart(ctx, id, filePartRun, number, part[:n]); err != nil {
				return 0, fmt.Errorf("store a part of the file: %w", err)
			}
		case end && in.had == 0:
			return 0, apierr.Invalid("", "the file is empty")
		case !end && apierr.As(err) != nil:
			return 0, err
		case !end:
			refused := *errUpload
			refused.Cause = err
			return 0, &refused
		}
		if end {
			return in.had, nil
		}
	}
}

// Preview is what an import of a file would read.
type Preview struct {
	Report Report
	// First are the first videos, at most previewed.
	First  []stage.Record
	Units  int
	Limits Limits
}

// previewed is how many videos a preview shows.
const previewed = 5

// Preview reads a file as an import would, and stores nothing.
func (s *Service) Preview(ctx context.Context, upload Upload, file io.Reader) (*Preview, error) {
	if _, err := tenantOf(ctx); err != nil {
		return nil, err
	}
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, fmt.Errorf("preview an import: limits: %w", err)
	}
	in := &bounded{file: file, most: limits.MaxBytes}
	preview, against := &Preview{Limits: limits}, s.compare(limits)
	sorted := newSeries(s.cfg.MaxRuns, nil)
	upload = upload.timed(s.now())
	understood, err := s.read(ctx, upload, sorted, against, func(out io.Writer) error {
		n, err := io.Copy(out, in)
		if err == nil && n == 0 {
			err = apierr.Invalid("", "the file is empty")
		}
		return err
	}, func(rec *stage.Record) {
		if len(preview.First) < previewed {
			preview.First = append(preview.First, *rec)
		}
	})
	var refused *FileError
	if errors.As(err, &refused) {
		return nil, apierr.Invalid("", "%s", refused.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("preview an import: %w", err)
	}
	preview.Report = reportOf(upload, understood, sorted)
	against.describe(&preview.Report)
	preview.Units = s.units(preview.Report.Read)
	return preview, nil
}

// units are what so many readings cost.
func (s *Service) units(readings int) int { return (readings + 999) / 1000 * s.cfg.Units }

// Get returns an import of the tenant by its public id, or nil if there is none.
func (s *Service) Get(ctx context.Context, id string) (*Import, error) {
	number, ok := publicid.Parse(publicid.Import, id)
	if !ok {
		return nil, nil
	}
	found, err := s.load(ctx, number)
	if err != nil || found == nil {
		return nil, err
	}
	return found, s.follow(ctx, found)
}

// follow adds the run that is under way to an import.
func (s *Service) follow(ctx context.Context, i *Import) error {
	if i.Status != Running {
		return nil
	}
	run, err := s.needs.Scrolls.RunOf(ctx, i.ScrollID)
	if err != nil {
		return fmt.Errorf("read the run of an import: %w", err)
	}
	i.current = run
	return nil
}

// List returns a page of the tenant's imports, newest first, and what the plan has room for.
// next is empty at the end.
func (s *Service) List(ctx context.Context, size int, token string) (all []*Import, next string, limits Limits, err error) {
	before, err := paging.Start(token)
	if err != nil {
		return nil, "", limits, err
	}
	if limits, err = s.needs.Plans.Limits(ctx); err != nil {
		return nil, "", limits, fmt.Errorf("list imports: limits: %w", err)
	}
	if all, err = s.page(ctx, before, size+1); err != nil {
		return nil, "", limits, fmt.Errorf("list imports: %w", err)
	}
	all, next = paging.Cut(all, size, func(i *Import) int64 { return i.ID })
	for _, one := range all {
		if err := s.follow(ctx, one); err != nil {
			return nil, "", limits, err
		}
	}
	return all, next, limits, nil
}

// Undo begins to undo an import that has ended; it returns nil if there is none. One that
// is undone already stays as it is.
func (s *Service) Undo(ctx context.Context, id string) (*Import, error) {
	number, ok := publicid.Parse(publicid.Import, id)
	if !ok {
		return nil, nil
	}
	found, err := s.load(ctx, number)
	if err != nil || found == nil || found.Status == Undoing || found.Status == Undone {
		return found, err
	}
	if found.CompletedAt == nil {
		return nil, apierr.Invalid("id", "the import has not ended; wait until it has, or cancel its scroll")
	}
	if s.undoUntil(found) == nil {
		return nil, apierr.Invalid("id", "the import ended more than %d days ago, so that it cannot be undone", int(s.cfg.Undo.Hours()/24))
	}
	if err := s.beginUndo(ctx, found); err != nil {
		return nil, fmt.Errorf("undo import %s: %w", id, err)
	}
	return s.load(ctx, number)
}

// undoUntil is until when an import can be undone; nil if it cannot be.
func (s *Service) undoUntil(i *Import) *int64 {
	if i.CompletedAt == nil || i.Status != Completed && i.Status != Failed || len(i.Report.Runs) == 0 {
		return nil
	}
	until := time.UnixMilli(*i.CompletedAt).Add(s.cfg.Undo)
	if !s.now().Before(until) {
		return nil
	}
	at := until.UnixMilli()
	return &at
}
