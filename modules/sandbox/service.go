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

// Charges takes the fee of a call. The returned context ends if the charge was closed
// by another process, which takes this one for lost.
type Charges interface {
	Open(ctx context.Context, account, fee int64) (alive context.Context, charge Charge, err error)
}

// Charge is the cost of a call until it is answered.
type Charge interface {
	Meter
	// Close keeps the fee of an answered call and returns any other. A call whose Close
	// fails has no answer: its fee is returned, if owed by a job.
	Close(ctx context.Context, answered bool) (owed bool, err error)
}

// Meter charges for programs: a credit for each second that one starts.
type Meter interface {
	// Hold holds the credit of a second; the first one begins a program.
	Hold(ctx context.Context, first bool) error
	// Started says that the program has reached its first step: it is paid from then on.
	Started(ctx context.Context) error
	// Settle pays what is held for a program that ran, or else releases it.
	Settle(ctx context.Context, ran bool) (paid int64, err error)
}

// Library shows the caller's own library: `hooks`, `outliers` or `trends`, as
// JSON. It is read-only.
type Library interface {
	View(ctx context.Context, name string) (json.RawMessage, error)
}

// Needs are what the sandbox needs of other modules.
type Needs struct {
	Charges  Charges
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
	charges  Charges
	library  Library
	programs Programs
	planner  Planner
	files    fileStore
	// second is what a run is metered in.
	second time.Duration
}

// New returns the sandbox's service.
func New(cfg Config, db *store.DB, needs Needs) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Service{
		config: cfg, charges: needs.Charges, library: needs.Library,
		programs: needs.Programs, planner: needs.Planner, second: time.Second,
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
