// Package scoring computes outliers and trends from the narrow rows of a library and stores
// what changed.
//
// The definitions are in package score, which knows no database.
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
	// SubjectOf returns the subject that a scroll works for.
	SubjectOf(ctx context.Context, scrollID int64) (string, error)
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
