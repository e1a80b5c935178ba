// Package lists reads pages of hooks, outliers, trends and videos, whole or by filters, and
// caches them until the library's revision changes.
//
// The cost of a page does not grow with the library. Without a filter it is a range of an
// index, joined with ready text. With one, the index of words says which term is rare: if few
// videos have it, the page looks at these alone, otherwise at the next rows of the list's own
// index, a bounded number. An answer may therefore have fewer items than were asked for, even
// none, and a cursor all the same, which is the last row that was looked at.
package lists

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Scrolls is the need of the research runs.
type Scrolls interface {
	// Completed counts the completed scrolls of a subject.
	Completed(ctx context.Context, subject string) (total int, err error)
}

// Counter is the need of the counts that trends show.
type Counter interface {
	// CountTrends counts what was archived or restored before the call.
	CountTrends(ctx context.Context) error
}

// Service reads lists. It is safe for concurrent use.
type Service struct {
	db        *store.DB
	videos    *videos.Service
	workspace videos.Workspace
	scrolls   Scrolls
	counter   Counter
	pages     *Pages
}

// New returns the service.
func New(db *store.DB, v *videos.Service, workspace videos.Workspace, scrolls Scrolls, counter Counter, pages *Pages) *Service {
	return &Service{db: db, videos: v, workspace: workspace, scrolls: scrolls, counter: counter, pages: pages}
}
