package workspace

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Library archives what was gathered for a subject that the brief turns from.
type Library interface {
	// ArchiveSubject returns how many videos it archived. subject is a
	// canonical id, empty for a brief without one.
	ArchiveSubject(ctx context.Context, tx *store.Tx, subject string) (int, error)
}

// Scrolls cancels the runs that work for a subject that the brief turns from.
type Scrolls interface {
	CancelSubject(ctx context.Context, tx *store.Tx, subject string) error
}

// Rules knows the version of the ruleset in force; 0 before the first.
type Rules interface {
	Version(ctx context.Context) (int, error)
}

// Service keeps the briefs.
type Service struct {
	db      *store.DB
	library Library
	scrolls Scrolls
	rules   Rules
	subject *store.Statement
	now     func() time.Time
}

// New returns the room's service.
func New(db *store.DB, library Library, scrolls Scrolls, rules Rules) *Service {
	return &Service{db: db, library: library, scrolls: scrolls, rules: rules, subject: prepareSubject(db), now: time.Now}
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

// Brief returns what stages may know of the workspace, and the canonical id of
// its subject. ok is false where none is set.
func (s *Service) Brief(ctx context.Context) (brief stage.Brief, subject string, ok bool, err error) {
	w, err := load(ctx, s.db.Ent())
	if err != nil || w == nil {
		return brief, "", false, err
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	return stage.Brief{
		Name: text(w.Name), Description: text(w.Description), Website: text(w.Website),
		AppStoreURL: text(w.AppStoreURL), Competitors: w.Competitors,
	}, w.Subject.CanonicalID, true, nil
}

// ID returns the id of the tenant's workspace; ok is false where none is set.
func (s *Service) ID(ctx context.Context) (id int64, ok bool, err error) {
	id, err = loadID(ctx, s.db.Ent())
	return id, id != 0, err
}

// Subject returns the canonical id of the brief's subject, empty for a brief
// without one; ok is false where no workspace is set.
func (s *Service) Subject(ctx context.Context) (canonicalID string, ok bool, err error) {
	err = s.subject.Each(ctx, func(row store.Row) (bool, error) {
		canonicalID, _ = row[0].(string)
		ok = true
		return false, nil
	})
	if err != nil {
		return "", false, fmt.Errorf("load subject: %w", err)
	}
	return canonicalID, ok, nil
}
