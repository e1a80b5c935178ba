package coverage

import (
	"errors"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Answer is what came of asking one source.
type Answer struct {
	Source string
	// Serves lists its platforms; empty stands for all.
	Serves []string
	// Searches: it searches for the seeds; otherwise it delivers what a folder holds.
	Searches bool
	// Seeds are those it was asked for.
	Seeds []stage.Seed
	// Records is how many it delivered.
	Records  int
	Outcomes []stage.Outcome
	// Leads are the planned seeds that led to records of other seeds.
	Leads map[Key]string
	// Full: the scroll had as many records as it may have before the source was done.
	Full bool
	Err  error
}

// Failure returns why a scroll cannot go on with what its sources delivered, or nil.
// One source that succeeded is enough. A source that its site cut off has delivered
// what it could; one that broke has not.
func Failure(answers []*Answer) error {
	if len(answers) == 0 {
		return &stage.CallError{Stage: "collect", Failure: stage.NoSources, Cause: errors.New("no source is usable")}
	}
	var worst error
	for _, a := range answers {
		refusal := a.refusal()
		switch fault, site := a.fault(); {
		case a.Err == nil && refusal == nil, a.Err != nil && a.Records > 0 && site:
			return nil
		case a.Err != nil && (worst == nil || fault != nil && fault.Retry):
			worst = a.Err
		case worst == nil:
			worst = refusal
		}
	}
	return worst
}

// fault is the error of a stage's call, if it is one; site means that the site
// caused it and not the stage.
func (a *Answer) fault() (fault *stage.CallError, site bool) {
	if !errors.As(a.Err, &fault) {
		return nil, false
	}
	return fault, slices.Contains([]stage.Failure{stage.SourceUnavailable, stage.SourceQuota, stage.SourceUnauthorized}, fault.Failure)
}

// refusal is the failure of a source that delivered nothing because it was refused
// for each of its seeds.
func (a *Answer) refusal() error {
	if a.Records > 0 || len(a.Outcomes) == 0 {
		return nil
	}
	failures := map[stage.Status]stage.Failure{
		stage.Blocked: stage.SourceUnavailable, stage.Quota: stage.SourceQuota, stage.Misconfigured: stage.SourceUnauthorized,
	}
	if slices.ContainsFunc(a.Outcomes, func(o stage.Outcome) bool { return failures[o.Status] == "" }) {
		return nil
	}
	first := a.Outcomes[0]
	return &stage.CallError{
		Stage: a.Source, Failure: failures[first.Status], Retry: first.Status == stage.Blocked, RetryAt: first.RetryAt,
		Cause: errors.New(first.Detail),
	}
}

// Status returns the status that stands for a failed call; nil stands for a call that
// ran out of time.
func Status(fault *stage.CallError) stage.Status {
	switch {
	case fault == nil:
		return stage.Partial
	case fault.Failure == stage.SourceQuota:
		return stage.Quota
	case fault.Setup, fault.Failure == stage.SourceUnauthorized:
		return stage.Misconfigured
	}
	return stage.Blocked
}

// loss is the outcome of each seed that a failed source did not report on.
func (a *Answer) loss() stage.Outcome {
	lost := stage.Outcome{Status: stage.Blocked}
	if fault, _ := a.fault(); fault != nil {
		lost.Status, lost.RetryAt = Status(fault), fault.RetryAt
	}
	if a.Records > 0 && lost.Status == stage.Blocked {
		lost.Status = stage.Partial
	}
	return lost
}

// losses are the outcomes of the seeds that a failed source was asked for and did not
// report on, on each platform that it serves.
func (a *Answer) losses() []stage.Outcome {
	if a.Err == nil {
		return nil
	}
	lost := a.loss()
	var outcomes []stage.Outcome
	for _, seed := range a.Seeds {
		platforms := a.Serves
		if len(platforms) == 0 && a.Searches {
			platforms = []string{""} // of a folder that serves any, complete adds what is missing
		}
		if seed.Platform != "" {
			platforms = []string{seed.Platform}
		}
		for _, platform := range platforms {
			lost.Seed, lost.Platform, lost.Asked = seed.Text(), platform, seed.Limit
			if !slices.ContainsFunc(a.Outcomes, func(o stage.Outcome) bool { return o.Seed == lost.Seed && o.Platform == platform }) {
				outcomes = append(outcomes, lost)
			}
		}
	}
	if len(outcomes) == 0 && !a.Searches {
		lost := a.loss()
		lost.Seed = a.Source
		outcomes = append(outcomes, lost)
	}
	return outcomes
}
