// Package insight takes the library's numbers apart: it explains scores and trends,
// lists the readings behind them, and counts how often an outlier stayed one.
//
// It decides nothing. Scores and trends are worked out by package score, the same
// functions that scoring calls, and the explanation is what they record on the way.
package insight

import (
	"context"
	"math"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Source is the library as insight needs it. All functions work for the viewer's tenant.
type Source struct {
	DB *store.DB
	// Lists keeps what was computed.
	Lists  *lists.Service
	Growth *score.Table
	// Subject is that of the tenant's brief; exists is false without one.
	Subject func(ctx context.Context) (subject string, exists bool, err error)
	// Newest is the newest usable reading of completed scrolls; 0 without one.
	Newest func(ctx context.Context) (at int64, err error)
	// Completed counts the completed scrolls of a subject.
	Completed func(ctx context.Context, subject string) (int, error)
	// Runs are the completed scrolls of a subject that may be in its trend window, the one
	// with the newest reading first.
	Runs func(ctx context.Context, subject string) (scrolls []int64, err error)
	// Window is the trend window of a subject; nil if it has no usable reading.
	Window func(ctx context.Context, subject string) (*score.Window, error)
	// Stored is what is stored of a key of a subject's window; nil if the window has at
	// most so many videos.
	Stored func(ctx context.Context, subject, key string, most int) (*Stored, error)
	// MostMeasured bounds the videos of a window that is measured for an answer; 0 is 10,000.
	MostMeasured int
	// Past are the newest completed scrolls of a subject with their readings, at most so many
	// of each, and the videos that they read.
	Past func(ctx context.Context, subject string, runs, readings int) (*Past, error)
	// Carriers are the videos of ids, with their keys.
	Carriers func(ctx context.Context, ids []int64) ([]score.Carrier, error)
	// IsGeneric recognises keys that name the feed and no subject.
	IsGeneric func(key string) bool
	// Niche reads the videos of a kind, from the newest on that can be a peer of the reading.
	Niche func(ctx context.Context, target score.Reading) *score.Niche
	// Outlier appends the members of an outlier after its video: what the sort key of a
	// listed video carries.
	Outlier func(b, order []byte) ([]byte, error)
}

// Stored is what scoring stored of a window and one of its keys.
type Stored struct {
	Totals score.Totals
	// Key is empty if the key is not stored.
	Key score.Key
	// Members are the videos with the key, by id, without their keys and with the views of
	// their first and last usable readings alone.
	Members []score.Member
	// Overlaps: in the list without archived videos, the key overlaps with one above it.
	Overlaps bool
	// Fit are the keys of that list, listed or overlapping, the strongest 20,000.
	Fit []score.Trend
}

// Past is what the newest scrolls of a subject read.
type Past struct {
	// Runs are the scrolls, the one with the newest reading first.
	Runs []PastRun
	// Since is the time after which all readings of the subject are here.
	Since    int64
	Carriers []score.Carrier
}

// FromStart is Past.Since where all readings of the subject are here.
const FromStart = int64(math.MinInt64)

// PastRun is a scroll with its readings.
type PastRun struct {
	Scroll   int64
	Readings []score.Observation
}

// Service answers questions about the library's numbers. It is safe for concurrent use.
type Service struct{ Source }

// New returns the service.
func New(source Source) *Service { return &Service{source} }

func videoID(id int64) string { return publicid.Format(publicid.Video, id) }

func scrollID(id int64) string { return publicid.Format(publicid.Scroll, id) }

const (
	// mostRefused bounds the refused videos of each list of an explanation.
	mostRefused = 1000
	// mostFlags bounds the flags that an explanation shows.
	mostFlags = 50
	// mostMembers and mostDropped bound what the explanation of a trend shows.
	mostMembers, mostDropped = 2000, 100
	// mostPoints bounds the points of a series.
	mostPoints = 5000
	// mostMeasured bounds the videos of a window that is measured for an answer.
	mostMeasured = 10_000
	// mostSeries bounds the videos of a series in a larger window.
	mostSeries = 20_000
)
