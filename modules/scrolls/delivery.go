package scrolls

import (
	"errors"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// verdictOn tells whether a scroll can go on with what its sources delivered. One
// that failed is no matter while another delivered. A source that was turned away
// by its site half-way has delivered what it has; one that broke has not.
func verdictOn(deliveries []*delivery) error {
	if len(deliveries) == 0 {
		return &stage.CallError{Stage: Collect, Failure: stage.NoSources, Cause: errors.New("no source is usable")}
	}
	var worst error
	for _, d := range deliveries {
		switch {
		case errors.Is(d.err, errLost):
			return d.err
		case d.err == nil && d.refusal() == nil:
			return nil
		case d.err != nil && d.records > 0 && turnedAway(d.err):
			return nil
		case d.err != nil && (worst == nil || retryable(d.err)):
			worst = d.err
		case worst == nil:
			worst = d.refusal()
		}
	}
	return worst
}

// refusal is the failure of a source that brought nothing, where it says that it
// was not let in for any of its seeds.
func (d *delivery) refusal() error {
	if d.records > 0 || len(d.outcomes) == 0 {
		return nil
	}
	failures := map[stage.Status]stage.Failure{
		stage.Blocked: stage.SourceUnavailable, stage.Quota: stage.SourceQuota, stage.Misconfigured: stage.SourceUnauthorized,
	}
	first := d.outcomes[0]
	if slices.ContainsFunc(d.outcomes, func(o stage.Outcome) bool { return failures[o.Status] == "" }) {
		return nil
	}
	return &stage.CallError{
		Stage: d.source, Failure: failures[first.Status], Retry: first.Status == stage.Blocked, RetryAt: first.RetryAt,
		Cause: errors.New(first.Detail),
	}
}

// turnedAway tells whether it was the site's doing, not the stage's.
func turnedAway(err error) bool {
	var fault *stage.CallError
	return errors.As(err, &fault) &&
		slices.Contains([]stage.Failure{stage.SourceUnavailable, stage.SourceQuota, stage.SourceUnauthorized}, fault.Failure)
}

func retryable(err error) bool {
	var fault *stage.CallError
	return errors.As(err, &fault) && fault.Retry
}

// loss is the outcome of whatever a failed source did not account for.
func (d *delivery) loss() stage.Outcome {
	lost := stage.Outcome{Status: stage.Blocked}
	var fault *stage.CallError
	if errors.As(d.err, &fault) {
		lost.Status, lost.RetryAt = shortcoming(fault), fault.RetryAt
	}
	if d.records > 0 && lost.Status == stage.Blocked {
		lost.Status = stage.Partial
	}
	return lost
}

// untold leaves out the losses of seeds that another source says more of by itself:
// that one is not set up does not hide that the platform's own is down.
func untold(lost, said []stage.Outcome) []stage.Outcome {
	merged := merge(said)
	return slices.DeleteFunc(lost, func(o stage.Outcome) bool {
		other, told := merged[coverageKey{o.Seed, o.Platform}]
		return told && o.Status != stage.Partial && better(other.Status, stage.Empty)
	})
}

// lostSeeds are the outcomes of the seeds that a failed source was asked for and did
// not account for, on each platform that it serves.
func lostSeeds(d *delivery) []stage.Outcome {
	lost := d.loss()
	var outcomes []stage.Outcome
	for _, seed := range d.seeds {
		platforms := d.serves // of a source for any platform nobody can say where; see unanswered
		if seed.Platform != "" {
			platforms = []string{seed.Platform}
		}
		for _, platform := range platforms {
			told := slices.ContainsFunc(d.outcomes, func(o stage.Outcome) bool { return o.Seed == seed.Text() && o.Platform == platform })
			if !told {
				lost.Seed, lost.Platform, lost.Asked = seed.Text(), platform, seed.Limit
				outcomes = append(outcomes, lost)
			}
		}
	}
	if len(outcomes) == 0 {
		lost.Seed = d.source
		outcomes = append(outcomes, lost)
	}
	return outcomes
}

// told is what the sources say of the seeds. One that takes what lies there, and has
// nothing, says nothing of a seed that another looked for: what that one met with
// must not be hidden, nor its wait be forgotten.
func told(deliveries []*delivery) []stage.Outcome {
	var looked, lost, there []stage.Outcome
	for _, d := range deliveries {
		var missed []stage.Outcome
		if d.err != nil {
			missed = lostSeeds(d)
		}
		if d.searches {
			looked, lost = append(looked, d.outcomes...), append(lost, missed...)
		} else {
			there = slices.Concat(there, d.outcomes, missed)
		}
	}
	looked = append(looked, untold(lost, looked)...)
	spoken := make(map[coverageKey]bool, len(looked))
	for _, o := range looked {
		spoken[keyOf(o.Seed, o.Platform)] = true
	}
	return append(looked, slices.DeleteFunc(there, func(o stage.Outcome) bool {
		return o.Returned == 0 && spoken[keyOf(o.Seed, o.Platform)]
	})...)
}
