package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// claimed is how long a caller has a page to itself: longer than a site may take to
	// answer twice.
	claimed = 2 * time.Minute
	// Kept is how long a page stays that no one reads anew.
	Kept = 60 * 24 * time.Hour
	// swept is how many pages one transaction removes.
	swept = 1000
)

// Memory keeps the pages.
type Memory struct {
	pages pages
	now   func() time.Time
}

// NewMemory returns the memory kept in db.
func NewMemory(db *store.DB) *Memory { return &Memory{pages{db}, time.Now} }

// Recall returns the page that a plugin last remembered under a name, nil if there is none.
// If that was before since, one caller at a time is to read it anew: renew says that it is
// this one, and busyUntil until when another one has the page. A caller that never remembers
// has it for two minutes. A zero since only looks.
func (m *Memory) Recall(ctx context.Context, plugin, name string, since time.Time) (page []byte, renew bool, busyUntil time.Time, err error) {
	page, read, _, err := m.pages.find(ctx, nil, plugin, name)
	enough := since.IsZero() || page != nil && !read.Before(since)
	if err == nil && !enough {
		page, renew, busyUntil, err = m.claim(ctx, plugin, name, since)
	}
	if err != nil {
		return nil, false, time.Time{}, fmt.Errorf("recall a page of %s: %w", plugin, err)
	}
	return page, renew, busyUntil, nil
}

// claim decides under a lock who reads a page anew.
func (m *Memory) claim(ctx context.Context, plugin, name string, since time.Time) (page []byte, renew bool, busyUntil time.Time, err error) {
	err = m.pages.locked(ctx, plugin, name, func(ctx context.Context, tx *store.Tx) (err error) {
		var read, until time.Time
		renew, busyUntil = false, time.Time{}
		page, read, until, err = m.pages.find(ctx, tx, plugin, name)
		now := m.now()
		switch {
		case err != nil:
			return err
		case page != nil && !read.Before(since):
			return nil
		case until.After(now):
			busyUntil = until
			return nil
		}
		renew = true
		return m.pages.claim(ctx, tx, plugin, name, now.Add(claimed))
	})
	return page, renew, busyUntil, err
}

// Remember stores a page and gives it free.
func (m *Memory) Remember(ctx context.Context, plugin, name string, page []byte) error {
	if err := m.pages.put(ctx, plugin, name, page, m.now()); err != nil {
		return fmt.Errorf("remember a page of %s: %w", plugin, err)
	}
	return nil
}

// Release gives up a page that Recall gave to a caller that did not read it.
func (m *Memory) Release(ctx context.Context, plugin, name string) error {
	if err := m.pages.release(ctx, plugin, name, m.now()); err != nil {
		return fmt.Errorf("release a page of %s: %w", plugin, err)
	}
	return nil
}

// Sweep removes pages that were not asked for in a long time.
func (m *Memory) Sweep(ctx context.Context) error {
	for {
		removed, err := m.pages.sweep(ctx, m.now().Add(-Kept), swept)
		if err != nil || removed < swept {
			return err
		}
	}
}
