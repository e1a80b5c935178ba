package store

import (
	"context"
	"database/sql"
	"sync"
)

const (
	// maxPrepared bounds the texts that stay prepared, each on every reader.
	maxPrepared = 128
	// maxPreparedText leaves out texts with long lists of values, which seldom recur.
	maxPreparedText = 4 << 10
)

// prepared is a pool that keeps the statements it is asked for more than once:
// SQLite's parser is two fifths of what a query by Ent costs. A text that was kept
// stays; when the places are taken, others are prepared at each call.
type prepared struct {
	*sql.DB

	mu   sync.RWMutex
	kept map[string]*sql.Stmt
	seen map[string]struct{} // asked for once
}

func newPrepared(db *sql.DB) *prepared {
	return &prepared{DB: db, kept: map[string]*sql.Stmt{}, seen: map[string]struct{}{}}
}

func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.DB.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// statement returns nil for what is not worth keeping.
func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	stmt := p.kept[query]
	p.mu.RUnlock()
	if stmt != nil || len(query) > maxPreparedText || !p.again(query) {
		return stmt, nil
	}
	stmt, err := p.PrepareContext(ctx, query) // may wait for a connection, so without the lock
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.kept[query]; other != nil {
		return other, stmt.Close()
	}
	p.kept[query] = stmt
	return stmt, nil
}

// again reports whether the text was asked for before, and there is a place for it.
func (p *prepared) again(query string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxPrepared {
		return false
	}
	if _, seen := p.seen[query]; seen {
		delete(p.seen, query)
		return true
	}
	if len(p.seen) >= 4*maxPrepared {
		clear(p.seen)
	}
	p.seen[query] = struct{}{}
	return false
}
