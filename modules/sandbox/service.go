package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Credits are what the agent is paid with. A reference moves credits once.
type Credits interface {
	Spend(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error
	Return(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error
}

// Holds are what its programs are paid with: credits held while they run, and paid
// or released at the end.
type Holds interface {
	Hold(ctx context.Context, tx *store.Tx, accountID, credits int64) error
	Pay(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error
	Release(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error
}

// Library shows the caller's own library: `hooks`, `outliers` or `trends`, as
// JSON. It is read-only.
type Library interface {
	View(ctx context.Context, name string) (json.RawMessage, error)
}

// Needs are what the sandbox needs of other modules.
type Needs struct {
	Credits  Credits
	Holds    Holds
	Library  Library
	Programs Programs
	// Planner is nil for the built-in one.
	Planner Planner
	// Scratch makes a folder for one program. With SQLite it is not called.
	Scratch func() (Scratch, error)
}

// Service is the sandbox. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *store.DB
	credits  Credits
	holds    Holds
	library  Library
	programs Programs
	planner  Planner
	files    fileStore
	// second is what a run is metered in.
	second time.Duration
	now    func() time.Time
}

// New returns the sandbox's service.
func New(cfg Config, db *store.DB, needs Needs) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Service{
		config: cfg, db: db, credits: needs.Credits, holds: needs.Holds, library: needs.Library,
		programs: needs.Programs, planner: needs.Planner, second: time.Second, now: time.Now,
	}
	if s.planner == nil {
		s.planner = builtin{}
	}
	s.files = folders{cfg.Dir, cfg.Files}
	if db.Dialect() == store.Postgres {
		s.files = rows{db, cfg.Files, needs.Scratch}
	}
	return s, nil
}

// WriteFile replaces or makes a file of the caller's sandbox, and the folders on
// the way to it. Once it returns, the file is there after a power cut too.
func (s *Service) WriteFile(ctx context.Context, path, data string) error {
	if faults := files.Check(s.config.Files, path, data); len(faults) > 0 {
		return invalid(faults...)
	}
	return usage(s.files.write(ctx, path, data))
}

// usage turns the refusals of a fileStore into faults of the caller.
func usage(err error) error {
	var refused *files.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return invalid(err)
	}
	return fmt.Errorf("use a sandbox: %w", err)
}

// invalid turns a folder's refusals into issues of the request, whose properties
// have the same names.
func invalid(faults ...error) error {
	var issues []apierr.Issue
	for _, err := range faults {
		var refused *files.Error
		if errors.As(err, &refused) {
			issues = append(issues, apierr.Issue{Path: refused.Field, Message: refused.Message})
		}
	}
	return apierr.InvalidIssues(issues...)
}

// Paths returns the paths of all files of the caller, in order.
func (s *Service) Paths(ctx context.Context) ([]string, error) {
	list, err := s.files.list(ctx)
	if err != nil {
		return nil, usage(err)
	}
	paths := make([]string, len(list))
	for i, file := range list {
		paths[i] = file.Path
	}
	return paths, nil
}

// ReadFile returns the content of a file of the caller.
func (s *Service) ReadFile(ctx context.Context, path string) (string, error) {
	text, err := s.files.read(ctx, path)
	return text, usage(err)
}

// EraseFiles deletes every file of the caller.
func (s *Service) EraseFiles(ctx context.Context) error { return s.files.erase(ctx) }
