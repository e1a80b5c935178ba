package scrolls

import "slices"

// The states of a scroll. The last three are final.
const (
	Queued    = "queued"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// The stages, in the order of Stages.
const (
	Plan     = "plan"
	Collect  = "collect"
	Observe  = "observe"
	Screen   = "screen"
	Evidence = "evidence"
	Archive  = "archive"
	Score    = "score"
)

// Stages returns the names of all stages in their order.
func Stages() []string {
	return []string{Plan, Collect, Observe, Screen, Evidence, Archive, Score}
}

// The failures beyond those of a stage, as failureCode shows them.
const (
	subscriptionInactive = "subscription_inactive"
	internalFailure      = "internal"
)

// Scroll is one research run.
type Scroll struct {
	ID     int64
	Status string
	// Stage is nil while queued and after the end.
	Stage    *string
	Progress Progress
	// Attempts counts the starts.
	Attempts int
	// NewVideos counts what the library did not have before.
	NewVideos   int
	FailureCode *string
	Schedule    *int
	Template    *string
	// Times in Unix milliseconds. CompletedAt is when it ended, however it ended.
	CreatedAt, UpdatedAt   int64
	StartedAt, CompletedAt *int64
}

// Ended tells whether the state is final.
func (s *Scroll) Ended() bool {
	return s.Status == Completed || s.Status == Failed || s.Status == Cancelled
}

// Progress is how far a scroll has come and what it covered, as it is stored.
type Progress struct {
	Percent       float64     `json:"percent"`
	Collected     int         `json:"collected,omitempty"`
	Reobserved    int         `json:"reobserved,omitempty"`
	Dropped       int         `json:"dropped,omitempty"`
	Coverage      []Coverage  `json:"coverage,omitempty"`
	DroppedByRule []RuleDrops `json:"droppedByRule,omitempty"`
	UnclearRules  []string    `json:"unclearRules,omitempty"`
	Evidence      []Looked    `json:"evidence,omitempty"`
	ScreenNotes   []string    `json:"screenNotes,omitempty"`
	// Plan is nil until the stage plan is through; it never changes then.
	Plan *Planned `json:"plan,omitempty"`
}

// Coverage is what one seed brought on one platform.
type Coverage struct {
	Seed       string `json:"seed"`
	Platform   string `json:"platform"`
	Outcome    string `json:"outcome"`
	Asked      int    `json:"asked,omitempty"`
	Returned   int    `json:"returned,omitempty"`
	New        int    `json:"new,omitempty"`
	Reobserved int    `json:"reobserved,omitempty"`
	Dropped    int    `json:"dropped,omitempty"`
	RetryAt    *int64 `json:"retryAt,omitempty"`
	// Planned: the scroll asked for this seed; else the source brought it along. Not shown.
	Planned bool `json:"planned,omitempty"`
}

// RuleDrops counts the videos that one rule dropped.
type RuleDrops struct {
	Rule   string `json:"rule"`
	Videos int    `json:"videos"`
}

// clone returns a copy that shares nothing which changes.
func (p Progress) clone() Progress {
	p.Coverage = slices.Clone(p.Coverage)
	return p
}

// raise lifts the percentage; it never falls.
func (p *Progress) raise(percent float64) { p.Percent = max(p.Percent, percent) }
