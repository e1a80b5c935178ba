package scrolls

import (
	"errors"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
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

// failure is why it failed; nil if it did not. Scrolls of earlier versions have
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
	// Examined: the evidence stages have had their turn, and only screens that look at
	// evidence are left of the step.
	Examined bool `json:"examined,omitempty"`
	// Plan is nil until the step plan has finished, and never changes after it.
	Plan *Planned `json:"plan,omitempty"`
	// Truncated are the sources that reached a bound.
	Truncated []Truncated `json:"truncated,omitempty"`
	// Failure is nil unless the scroll has failed.
	Failure *Failure `json:"failure,omitempty"`
}

// Truncated is a source that had to stop before it was done.
type Truncated struct {
	Source string `json:"source"`
	// Setting is the name of the bound.
	Setting string `json:"setting"`
	// Kept are the records that were taken, Found those that it says it found, if more.
	Kept  int `json:"kept"`
	Found int `json:"found,omitempty"`
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

// Failure is why a scroll failed, in words for its tenant: without paths, addresses or
// anything else that a plugin or the server wrote.
type Failure struct {
	// Step is where it failed; nil if it was never started.
	Step *string `json:"stage"`
	// Plugin is the id of the plugin that failed; nil if none did.
	Plugin *string `json:"plugin"`
	Cause  string  `json:"cause"`
	// Tries counts the starts.
	Tries int `json:"tries"`
}

// stepError is the failure of one step.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// failureOf describes the error that a start ended with.
func (r *run) failureOf(code string, err error) *Failure {
	f := &Failure{Cause: words(code), Tries: r.attempt}
	var step *stepError
	if errors.As(err, &step) {
		f.Step = &step.step
	}
	var fault *stage.CallError
	if !errors.As(err, &fault) || fault.Failure == stage.NoSources {
		return f
	}
	if fault.Setup {
		f.Cause = "A setting or a secret of the plugin is missing or wrong."
	}
	if fault.RetryAt != nil {
		f.Cause += " It can be asked again at " + time.UnixMilli(*fault.RetryAt).UTC().Format(time.RFC3339) + "."
	}
	if errors.Is(err, errDeadline) { // of the step: a plugin is named where its call was cut off
		f.Cause = "The step took longer than it may."
		if cause := fault.Cause; !errors.As(cause, &fault) {
			return f
		}
	}
	if id := fault.Stage; id != "" && (!slices.Contains(Steps(), id) || r.stages.Find(id).Kind != "") {
		f.Plugin = &id
	}
	return f
}

// words describe a failure code.
func words(code string) string {
	switch code {
	case string(stage.NoSources):
		return "No source of the template can be used."
	case string(stage.SourceUnavailable):
		return "The platform could not be reached, or refused the requests."
	case string(stage.SourceQuota):
		return "The allowance at the platform is used up."
	case string(stage.SourceUnauthorized):
		return "The platform refused the credentials of the source."
	case string(stage.StageCrashed):
		return "The plugin ended before its work was done."
	case string(stage.StageTimeout):
		return "The plugin took longer than it may."
	case string(stage.StageProtocol):
		return "The plugin sent something that the server does not accept."
	case subscriptionInactive:
		return "The subscription is not active."
	}
	return "The server could not finish the scroll."
}
