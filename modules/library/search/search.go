// Package search reads the library's lists by filters.
//
// Its cost does not grow with the library. A page examines at most [examined] rows of
// the list's own index, from the cursor on. An answer may therefore hold fewer items
// than asked for, even none, and have a cursor all the same: it stands for the last row
// that was examined, so that the next page goes on there.
package search

// examined bounds the rows that one page looks at.
const examined = 600

// MostItems is the longest page.
const MostItems = 25

// Filter chooses videos. A zero value chooses all; a video must meet every other one.
type Filter struct {
	Platform, Kind string
	// Creator is a folded handle without @.
	Creator string
	// MinViews bounds the views of the newest usable reading.
	MinViews int64
	MinScore float64
	// PostedAfter and PostedBefore bound the posting time, Unix milliseconds; the first
	// one is within. A video without a date meets neither.
	PostedAfter, PostedBefore int64
}

// IsZero reports whether the filter chooses all videos.
func (f Filter) IsZero() bool { return f == Filter{} }

// values are the arguments of a page's statement from $4 on.
func (f Filter) values() []any {
	return []any{f.Kind, f.Creator, f.MinViews, f.MinScore, f.PostedAfter, f.PostedBefore}
}
