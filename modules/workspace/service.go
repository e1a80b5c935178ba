package workspace

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Library archives the videos of a subject that the brief no longer has.
type Library interface {
	// ArchiveSubject returns how many videos it archived. subject is a
	// canonical id, empty for a brief without one.
	ArchiveSubject(ctx context.Context, tx *store.Tx, subject string) (int, error)
}

// Scrolls cancels the runs for a subject that the brief no longer has.
type Scrolls interface {
	CancelSubject(ctx context.Context, tx *store.Tx, subject string) error
}

// Rules returns the version of the ruleset in force; 0 before the first.
type Rules interface {
	Version(ctx context.Context) (int, error)
}

// Service writes the briefs.
type Service struct {
	db      *store.DB
	reads   reads
	library Library
	scrolls Scrolls
	rules   Rules
	now     func() time.Time
}

// New returns the module's service.
func New(db *store.DB, library Library, scrolls Scrolls, rules Rules) *Service {
	return &Service{db: db, reads: newReads(db), library: library, scrolls: scrolls, rules: rules, now: time.Now}
}

// Get returns the tenant's workspace, or nil if none is set.
func (s *Service) Get(ctx context.Context) (*Workspace, error) {
	w, err := s.reads.load(ctx, nil)
	if err != nil || w == nil {
		return nil, err
	}
	w.RulesVersion, err = s.rulesVersion(ctx)
	return w, err
}

func (s *Service) rulesVersion(ctx context.Context) (int, error) {
	version, err := s.rules.Version(ctx)
	if err != nil {
		return 0, fmt.Errorf("rules version of the workspace: %w", err)
	}
	return version, nil
}

// write runs do alone among the writers of this tenant's workspace, and returns the
// version of the rules. It reads the version first: a read that fails after a commit
// would leave the call without an answer.
func (s *Service) write(ctx context.Context, do func(context.Context, *store.Tx) error) (rulesVersion int, err error) {
	if rulesVersion, err = s.rulesVersion(ctx); err != nil {
		return 0, err
	}
	account, _, _ := viewer.Tenant(ctx)
	return rulesVersion, s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "workspace", account); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}
