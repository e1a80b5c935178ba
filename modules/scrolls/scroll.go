package scrolls

import (
	"slices"

	"github.com/scrollery/scrollery/modules/scrolls/coverage"
)

// The states of a scroll. The last three are final.
const (
	Queued    = "queued"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// The steps, in the order of Steps.
const (
	Plan     = "plan"
	Collect  = "collect"
	Observe  = "observe"
	Screen   = "screen"
	Evidence = "evidence"
	Archive  = "archive"
	Score    = "score"
)

// Steps returns the names of all steps in their order.
func Steps() []string {
	return []string{Plan, Collect, Observe, Screen, Evidence, Archive, Score}
}

// The failure codes besides those of plugin stages.
const (
	subscriptionInactive = "subscription_inactive"
	internalFailure      = "internal"
)

// Scroll is one research run.
type Scroll struct {
	ID     int64
	Status string
	// Step is nil while queued and after the end.
	Step     *string
	Progress Progress
	// Attempts counts the starts.
	Attempts int
	// NewVideos counts the videos that the library did not have before.
	NewVideos   int
	FailureCode *string
	Schedule    *int
	Template    *string
	// Times in Unix milliseconds. CompletedAt is when it ended, however it ended.
	CreatedAt, UpdatedAt   int64
	StartedAt, CompletedAt *int64
}

// Ended reports whether the state is final.
func (s *Scroll) Ended() bool {
	return s.Status == Completed || s.Status == Failed || s.Status == Cancelled
}

// failure is why it failed; nil where it did not. Scrolls of earlier versions have
// their code alone.
func (s *Scroll) failure() *Failure {
	if s.Progress.Failure == nil && s.Status == Failed && s.FailureCode != nil {
		return &Failure{Cause: words(*s.FailureCode), Tries: s.Attempts}
	}
	return s.Progress.Failure
}

// Progress is what a scroll has done so far, as it is stored.
type Progress struct {
	Percent       float64          `json:"percent"`
	Collected     int              `json:"collected,omitempty"`
	Reobserved    int              `json:"reobserved,omitempty"`
	Dropped       int              `json:"dropped,omitempty"`
	Coverage      []coverage.Entry `json:"coverage,omitempty"`
	DroppedByRule []RuleDrops      `json:"droppedByRule,omitempty"`
	UnclearRules  []string         `json:"unclearRules,omitempty"`
	Evidence      []Looked         `json:"evidence,omitempty"`
	ScreenNotes   []string         `json:"screenNotes,omitempty"`
	// Plan is nil until the step plan has finished, and never changes after it.
	Plan *Planned `json:"plan,omitempty"`
	// Failure is nil unless the scroll has failed.
	Failure *Failure `json:"failure,omitempty"`
}

// RuleDrops counts the videos that one rule dropped.
type RuleDrops struct {
	Rule   string `json:"rule"`
	Videos int    `json:"videos"`
}

// clone returns a copy that shares no part that changes.
func (p Progress) clone() Progress {
	p.Coverage = slices.Clone(p.Coverage)
	return p
}

// raise lifts the percentage; it never falls.
func (p *Progress) raise(percent float64) { p.Percent = max(p.Percent, percent) }

// count adds items to one field of the coverage of their seeds.
func (p *Progress) count(items []item, field func(*coverage.Entry) *int) {
	counts := coverage.Tally{}
	for _, i := range items {
		counts[i.key()]++
	}
	p.Coverage = counts.AddTo(p.Coverage, field)
}
