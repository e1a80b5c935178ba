package scrolls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// coverageKey names an entry of the coverage.
type coverageKey struct{ seed, platform string }

// cover returns the entry of a key, which is made where it is missing. The pointer
// is good until the next call.
func (p *Progress) cover(key coverageKey) *Coverage {
	at := slices.IndexFunc(p.Coverage, func(c Coverage) bool { return c.Seed == key.seed && c.Platform == key.platform })
	if at < 0 {
		at = len(p.Coverage)
		p.Coverage = append(p.Coverage, Coverage{Seed: key.seed, Platform: key.platform, Outcome: string(stage.OK)})
	}
	return &p.Coverage[at]
}

// tally adds counts to the entries of the coverage.
type tally map[coverageKey]int

func count(items []item) tally {
	counts := tally{}
	for _, i := range items {
		counts[i.key()]++
	}
	return counts
}

func (t tally) into(p *Progress, field func(*Coverage) *int) {
	index := make(map[coverageKey]int, len(p.Coverage))
	for i, c := range p.Coverage {
		index[coverageKey{c.Seed, c.Platform}] = i
	}
	for key, n := range t {
		if at, ok := index[key]; ok {
			*field(&p.Coverage[at]) += n
			continue
		}
		*field(p.cover(key)) += n
	}
}

// better tells whether an outcome says more of a seed than another: two sources may
// both have tried it. Videos come first, then trouble: a source that has nothing
// does not speak for one that was kept from looking. Blocked is the least telling
// trouble, since a source that broke off has it for all its seeds.
func better(a, b stage.Status) bool {
	order := []stage.Status{
		stage.OK, stage.Partial, stage.Changed, stage.Quota, stage.Misconfigured, stage.Blocked,
		stage.Empty, stage.NotFound, stage.Unsupported,
	}
	return slices.Index(order, a) < slices.Index(order, b)
}

// merge puts the outcomes of all sources into one entry a seed and platform.
func merge(outcomes []stage.Outcome) map[coverageKey]stage.Outcome {
	merged := map[coverageKey]stage.Outcome{}
	for _, o := range outcomes {
		key := coverageKey{o.Seed, o.Platform}
		old, ok := merged[key]
		switch {
		case !ok:
		case better(o.Status, old.Status):
			o.Asked, o.Returned = max(o.Asked, old.Asked), o.Returned+old.Returned
		default:
			old.Asked, old.Returned = max(o.Asked, old.Asked), o.Returned+old.Returned
			o = old
		}
		merged[key] = o
	}
	return merged
}

// coverage makes the entries of a scroll: what sources said, what they delivered
// (returned), and what earlier scrolls of the kind had from the same seeds (before).
// A video that two seeds led to is delivered once: a seed with nothing of its own is
// changed only where its sources had nothing for it either.
func coverage(outcomes []stage.Outcome, returned tally, planned map[string]bool, before []Coverage) []Coverage {
	var p Progress
	said := merge(outcomes)
	for key, o := range said {
		c := p.cover(key)
		c.Outcome, c.Asked, c.RetryAt = string(o.Status), o.Asked, o.RetryAt
	}
	returned.into(&p, func(c *Coverage) *int { return &c.Returned })
	for i := range p.Coverage {
		p.Coverage[i].Planned = planned[p.Coverage[i].Seed]
	}
	for _, old := range before {
		key := coverageKey{old.Seed, old.Platform}
		at := slices.IndexFunc(p.Coverage, func(c Coverage) bool { return c.Seed == key.seed && c.Platform == key.platform })
		switch {
		case old.Returned == 0 || said[key].Returned > 0:
		case at < 0 && !old.Planned && !planned[old.Seed]:
			p.cover(key).Outcome = string(stage.Changed) // the source brought it along, and does no more
		case at >= 0 && p.Coverage[at].Returned == 0 && slices.Contains([]string{"ok", "empty", "not_found"}, p.Coverage[at].Outcome):
			p.Coverage[at].Outcome = string(stage.Changed)
		}
	}
	p.sort()
	return p.Coverage
}

func (p *Progress) sort() {
	slices.SortFunc(p.Coverage, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Seed, b.Seed))
	})
}

// unanswered adds what no source said a word about: seeds on a platform that none
// looks on, and handles that every source was asked for, as nobody named their
// platform. One that had videos before is changed where it had them; else the entry
// says why there is nothing. silent is why for a handle, whose platform nobody knows.
func unanswered(entries []Coverage, seeds []stage.Seed, before []Coverage, silent stage.Outcome, lookedOn func(platform string) bool) []Coverage {
	p := Progress{Coverage: entries}
	of := func(seed stage.Seed) func(Coverage) bool {
		return func(c Coverage) bool {
			return strings.EqualFold(bare(c.Seed), bare(seed.Text())) && (seed.Platform == "" || seed.Platform == c.Platform)
		}
	}
	for _, seed := range seeds {
		why, overdue := silent, seed.Handle != ""
		if seed.Platform != "" {
			why, overdue = stage.Outcome{Status: stage.Unsupported}, !lookedOn(seed.Platform)
		}
		if !overdue || slices.ContainsFunc(p.Coverage, of(seed)) {
			continue
		}
		found := false
		for _, old := range before {
			if old.Returned > 0 && of(seed)(old) {
				c := p.cover(coverageKey{old.Seed, old.Platform})
				c.Outcome, c.Asked, c.Planned, found = string(stage.Changed), seed.Limit, true, true
			}
		}
		if !found {
			c := p.cover(coverageKey{seed.Text(), seed.Platform})
			c.Outcome, c.Asked, c.Planned, c.RetryAt = string(why.Status), seed.Limit, true, why.RetryAt
		}
	}
	p.sort()
	return p.Coverage
}

// lookedOn tells whether some source looks for seeds on a platform. One that takes
// what lies there looks for none.
func lookedOn(deliveries []*delivery) func(platform string) bool {
	return func(platform string) bool {
		return slices.ContainsFunc(deliveries, func(d *delivery) bool {
			return d.searches && (len(d.serves) == 0 || slices.Contains(d.serves, platform))
		})
	}
}

// shortened keeps at most limit entries: first those that tell of trouble, then
// those that brought the most.
func shortened(all []Coverage, limit int) []Coverage {
	if limit <= 0 || len(all) <= limit {
		return all
	}
	short := slices.Clone(all)
	fine := func(c Coverage) int {
		if c.Outcome == string(stage.OK) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(short, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(fine(a), fine(b)), cmp.Compare(b.Returned, a.Returned))
	})
	return short[:limit]
}
