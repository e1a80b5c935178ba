package workspace

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Reader answers what other modules ask about the tenant's workspace. It needs the
// database only, so that the library and the rules, which the [Service] needs, can
// be built with it.
type Reader struct{ reads reads }

// NewReader returns the reader of a database.
func NewReader(db *store.DB) *Reader { return &Reader{newReads(db)} }

// Brief returns what stages may know of the workspace, and the canonical id of
// its subject. ok is false if none is set.
func (r *Reader) Brief(ctx context.Context) (brief stage.Brief, subject string, ok bool, err error) {
	w, err := r.reads.load(ctx, nil)
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

// ID returns the id of the tenant's workspace; ok is false if none is set.
func (r *Reader) ID(ctx context.Context) (id int64, ok bool, err error) {
	id, ok, err = store.One[int64](ctx, r.reads.id)
	if err != nil {
		return 0, false, fmt.Errorf("load workspace id: %w", err)
	}
	return id, ok, nil
}

// Subject returns the canonical id of the brief's subject, empty for a brief
// without one; ok is false if no workspace is set.
func (r *Reader) Subject(ctx context.Context) (canonicalID string, ok bool, err error) {
	subject, ok, err := store.One[sql.NullString](ctx, r.reads.subject)
	if err != nil {
		return "", false, fmt.Errorf("load subject: %w", err)
	}
	return subject.String, ok, nil
}
