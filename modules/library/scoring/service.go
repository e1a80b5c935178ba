// Package scoring computes outliers and trends from the narrow rows of a library and stores
// what changed.
//
// The definitions are in package score, which knows no database.
//
// What changed is marked and scored: creators first, then the videos that depend on the niche of
// a changed one; a large niche is finished by the queue. One pass over all rows would need no
// marks. It was measured after a scroll of 250 new videos, in seconds of one core, on PostgreSQL
// with its server's:
//
//	videos   a creator   a pass: SQLite, PostgreSQL   marks: SQLite, PostgreSQL
//	 10,000         20   0.23        0.68             0.19       0.64
//	 10,000          1   0.42        1.3              0.35       0.87
//	100,000         20   1.2         1.1              0.41       0.87
//	100,000          1   4.2                          4.2, of which the scroll waits for 2.4
//
// Where most creators have one video, nine of ten baselines change with each scroll, and both ways
// write them; a pass then takes more than 2 s at 100,000 and allocates 550 MB. Elsewhere marks save
// half of the work and more, and at a million the 10 s of reading and computing all. A pass would
// also change early views of creators that no scroll has touched.
//
// Archiving a video counts its keys again from their stored members, in 3 ms, since the next page
// of trends shows it: measuring a window anew reads all of its videos.
package scoring

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Scrolls is the need of the research runs.
type Scrolls interface {
	// CompletedOf returns those of the scrolls that are completed, in any order.
	CompletedOf(ctx context.Context, scrollIDs []int64) ([]int64, error)
	// SubjectOf returns the subject that a scroll works for; found is false if the scroll is gone,
	// as those of an account that is being deleted.
	SubjectOf(ctx context.Context, scrollID int64) (subject string, found bool, err error)
}

// Service scores libraries. It is safe for concurrent use.
type Service struct {
	*core
	Windows *Windows
	Trends  *Trends
}

// Windows reads what the scrolls of a subject observed. It is safe for concurrent use.
type Windows struct{ *core }

// Trends measures the trends of subjects and stores them. It is safe for concurrent use.
type Trends struct {
	*core
	windows *Windows
}

// core is what all of the package works with.
type core struct {
	db        *store.DB
	hot       hot
	videos    *videos.Service
	scrolls   Scrolls
	growth    *score.Table
	method    string
	isGeneric func(key string) bool
}

// Method names the current rules and a growth table: libraries that were scored by others
// are scored again.
func Method(growth *score.Table) string { return "4 " + growth.Method() }

// New returns the service. isGeneric recognises keys that are never trends.
func New(db *store.DB, v *videos.Service, scrolls Scrolls, growth *score.Table, isGeneric func(key string) bool) *Service {
	c := &core{
		db: db, hot: newHot(db), videos: v, scrolls: scrolls,
		growth: growth, method: Method(growth), isGeneric: isGeneric,
	}
	w := &Windows{c}
	return &Service{core: c, Windows: w, Trends: &Trends{core: c, windows: w}}
}
