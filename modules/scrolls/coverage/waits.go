package coverage

import (
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// How long a seed that is not found is not asked for again: after the first time, and
// when it was not found again.
const (
	notFoundOnce  = 24 * time.Hour
	notFoundAgain = 7 * 24 * time.Hour
)

// Waits are the entries of a scroll, from which the next one learns which seeds it
// must not ask for yet.
type Waits map[Key]Entry

// NewWaits returns the waits of a scroll with these entries.
func NewWaits(entries []Entry) Waits {
	w := make(Waits, len(entries))
	for _, e := range entries {
		w[keyOf(e.Seed, e.Platform)] = e
	}
	return w
}

// keyOf is the same for all spellings of a handle.
func keyOf(seed, platform string) Key { return Key{strings.ToLower(plan.Handle(seed)), platform} }

// Due splits the seeds of a source into those it is asked for now and outcomes for
// the others. A seed for any platform is asked for on those that need no wait.
func (w Waits) Due(seeds []stage.Seed, serves []string, now int64) (ask []stage.Seed, waiting []stage.Outcome) {
	for _, seed := range seeds {
		platforms := serves
		if seed.Platform != "" {
			platforms = []string{seed.Platform}
		}
		var free []string
		for _, platform := range platforms {
			e, known := w[keyOf(seed.Text(), platform)]
			if !known || e.RetryAt == nil || *e.RetryAt <= now || e.Returned > 0 {
				free = append(free, platform)
				continue
			}
			waiting = append(waiting, stage.Outcome{
				Seed: seed.Text(), Platform: platform, Status: stage.Status(e.Outcome), RetryAt: e.RetryAt,
			})
		}
		if len(free) == len(platforms) {
			ask = append(ask, seed)
			continue
		}
		for _, platform := range free {
			one := seed
			one.Platform = platform
			ask = append(ask, one)
		}
	}
	return ask, waiting
}

// postpone sets when seeds that were not found may be asked for again.
func (w Waits) postpone(entries []Entry, now int64) {
	for i := range entries {
		e := &entries[i]
		if e.Outcome != string(stage.NotFound) || e.RetryAt != nil {
			continue
		}
		wait := notFoundOnce
		if w[keyOf(e.Seed, e.Platform)].Outcome == string(stage.NotFound) {
			wait = notFoundAgain
		}
		at := now + wait.Milliseconds()
		e.RetryAt = &at
	}
}

// Served returns the seeds that a source can be asked for; no platforms stands for
// all of them.
func Served(seeds []stage.Seed, serves []string) []stage.Seed {
	return slices.DeleteFunc(slices.Clone(seeds), func(s stage.Seed) bool {
		return s.Platform != "" && len(serves) > 0 && !slices.Contains(serves, s.Platform)
	})
}

// Unanswered are the seeds that none of the answers brought videos for, on a platform that the
// source serves too.
func Unanswered(seeds []stage.Seed, serves []string, answers []*Answer) []stage.Seed {
	brought := map[Key]bool{}
	for _, a := range answers {
		for _, o := range a.Outcomes {
			if o.Returned > 0 && (len(serves) == 0 || slices.Contains(serves, o.Platform)) {
				brought[keyOf(o.Seed, "")] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(seeds), func(s stage.Seed) bool { return brought[keyOf(s.Text(), "")] })
}
