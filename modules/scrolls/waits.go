package scrolls

import (
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// How long a seed that is not there is left alone: after the first time, and when
// it was not there again.
const (
	missingOnce  = 24 * time.Hour
	missingAgain = 7 * 24 * time.Hour
)

// waits are the seeds that are not to be asked for yet, with what came of them.
type waits map[coverageKey]Coverage

func keyOf(seed, platform string) coverageKey {
	return coverageKey{strings.ToLower(bare(seed)), platform}
}

// due splits what a source is asked: the seeds whose time has come, and outcomes
// that stand for the others. A seed for any platform is asked for on those that it
// need not wait for.
func (w waits) due(seeds []stage.Seed, serves []string, now int64) (ask []stage.Seed, waiting []stage.Outcome) {
	for _, seed := range seeds {
		platforms := serves
		if seed.Platform != "" {
			platforms = []string{seed.Platform}
		}
		var free []string
		for _, platform := range platforms {
			c, known := w[keyOf(seed.Text(), platform)]
			if !known || c.RetryAt == nil || *c.RetryAt <= now || c.Returned > 0 {
				free = append(free, platform)
				continue
			}
			waiting = append(waiting, stage.Outcome{
				Seed: seed.Text(), Platform: platform, Status: stage.Status(c.Outcome), RetryAt: c.RetryAt,
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

// postpone has seeds that are not there left alone for a while.
func (w waits) postpone(entries []Coverage, now int64) {
	for i := range entries {
		c := &entries[i]
		if c.Outcome != string(stage.NotFound) || c.RetryAt != nil {
			continue
		}
		wait := missingOnce
		if before, ok := w[keyOf(c.Seed, c.Platform)]; ok && before.Outcome == string(stage.NotFound) {
			wait = missingAgain
		}
		at := now + wait.Milliseconds()
		c.RetryAt = &at
	}
}

// served are the seeds that a source can be asked for at all; no platforms stands
// for all of them.
func served(seeds []stage.Seed, serves []string) []stage.Seed {
	return slices.DeleteFunc(slices.Clone(seeds), func(s stage.Seed) bool {
		return s.Platform != "" && len(serves) > 0 && !slices.Contains(serves, s.Platform)
	})
}
