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
	library Library
	scrolls Scrolls
	rules   Rules
	now     func() time.Time
}

// New returns the module's service.
func New(db *store.DB, library Library, scrolls Scrolls, rules Rules) *Service {
	return &Service{db: db, library: library, scrolls: scrolls, rules: rules, now: time.Now}
}

// Get returns the tenant's workspace, or nil where none is set.
func (s *Service) Get(ctx context.Context) (*Workspace, error) {
	w, err := load(ctx, s.db.Ent())
	if err != nil || w == nil {
		return nil, err
	}
	return w, s.addRules(ctx, w)
}

func (s *Service) addRules(ctx context.Context, w *Workspace) (err error) {
	if w.RulesVersion, err = s.rules.Version(ctx); err != nil {
		return fmt.Errorf("rules version of workspace %d: %w", w.ID, err)
	}
	return nil
}

// write runs do alone among the writers of this tenant's workspace.
func (s *Service) write(ctx context.Context, do func(context.Context, *store.Tx) error) error {
	account, _, _ := viewer.Tenant(ctx)
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "workspace", account); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}
