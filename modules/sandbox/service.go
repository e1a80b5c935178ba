package sandbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/scrollery/scrollery/modules/fault"
	"github.com/scrollery/scrollery/modules/folder"
	"github.com/scrollery/scrollery/modules/ident"
	"github.com/scrollery/scrollery/modules/viewer"
)

// Service is the room. It is safe for concurrent use.
type Service struct {
	config Config
}

// New returns the room's service.
func New(cfg Config) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return &Service{config: cfg}, nil
}

// WriteFile replaces or makes a file of the caller's sandbox, and the folders on
// the way to it. Once it returns, the file is there after a power cut too.
func (s *Service) WriteFile(ctx context.Context, path, data string) error {
	if faults := folder.Check(s.config.Files, path, data); len(faults) > 0 {
		return invalid(faults...)
	}
	dir, err := s.dir(ctx)
	if err != nil {
		return err
	}
	files, err := folder.Open(dir, s.config.Files, true)
	if err != nil {
		return fmt.Errorf("open a sandbox: %w", err)
	}
	defer files.Close()
	if err := files.Write(path, data); err != nil {
		var refused *folder.Error
		if errors.As(err, &refused) {
			return invalid(err)
		}
		return fmt.Errorf("write a file of a sandbox: %w", err)
	}
	return nil
}

// invalid turns a folder's refusals into issues of the request, whose properties
// have the same names.
func invalid(faults ...error) error {
	var issues []fault.Issue
	for _, err := range faults {
		var refused *folder.Error
		if errors.As(err, &refused) {
			issues = append(issues, fault.Issue{Path: refused.Field, Message: refused.Message})
		}
	}
	return fault.InvalidIssues(issues...)
}

var errNobody = errors.New("nobody is asking")

// dir is the folder of the caller's account.
func (s *Service) dir(ctx context.Context) (string, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all || s.config.Dir == "" {
		return "", errNobody
	}
	return filepath.Join(s.config.Dir, ident.Format(ident.Account, account)), nil
}
