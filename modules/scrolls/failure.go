package scrolls

import (
	"errors"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Failure is why a scroll failed, in words for its tenant: without paths, addresses or
// anything else that a plugin or the server wrote.
type Failure struct {
	// Step is where it failed; nil where it was never started.
	Step *string `json:"stage"`
	// Plugin is the id of the plugin that failed; nil where none did.
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
