package coverage

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Input is what [Fold] works on.
type Input struct {
	// Seeds are those of the scroll.
	Seeds   []stage.Seed
	Answers []*Answer
	// Returned counts the delivered records.
	Returned Tally
	// Trimmed counts those of them that lost a part.
	Trimmed Tally
	// Before is what the same seeds brought in earlier scrolls, see [Latest].
	Before []Entry
	// Waits are of the scroll before this one.
	Waits Waits
	// Now in Unix milliseconds.
	Now int64
}

// Fold returns the entries of a scroll, sorted by platform, then by seed. The package
// comment describes its steps.
func Fold(in Input) []Entry {
	for i, a := range in.Answers {
		if a.Err != nil || a.Full {
			in.Before = nil // the source could have brought the videos
		}
		settled := *a
		settled.Outcomes = a.settled(in.Seeds)
		in.Answers = slices.Clone(in.Answers)
		in.Answers[i] = &settled
	}
	var t table
	reported := merge(reports(in.Answers))
	for key, o := range reported {
		e := t.entry(key)
		e.Outcome, e.Asked, e.RetryAt = string(o.Status), o.Asked, o.RetryAt
	}
	t.entries = in.Returned.AddTo(t.entries, func(e *Entry) *int { return &e.Returned })
	t.entries = in.Trimmed.AddTo(t.entries, func(e *Entry) *int { return &e.Trimmed })
	for i := range t.entries {
		t.entries[i].Planned = named(in.Seeds, t.entries[i].Seed, t.entries[i].Platform) != nil
	}
	t.compare(in, reported)
	t.complete(in)
	in.Waits.postpone(t.entries, in.Now)
	return t.sorted()
}

// reports are the outcomes of all sources: those of sources that search, the losses
// that tell more than them, and of folders those that hide none of these.
func reports(answers []*Answer) []stage.Outcome {
	var searched, lost, folders []stage.Outcome
	for _, a := range answers {
		if a.Searches {
			searched, lost = append(searched, a.Outcomes...), append(lost, a.losses()...)
		} else {
			folders = slices.Concat(folders, a.Outcomes, a.losses())
		}
	}
	searched = append(searched, withoutKnown(lost, searched)...)
	known := make(map[Key]bool, len(searched))
	for _, o := range searched {
		known[keyOf(o.Seed, o.Platform)] = true
	}
	return append(searched, slices.DeleteFunc(folders, func(o stage.Outcome) bool {
		return o.Returned == 0 && known[keyOf(o.Seed, o.Platform)]
	})...)
}

// withoutKnown leaves out the losses of seeds that another source has trouble with:
// that one source is not set up does not hide that the platform's own is down.
func withoutKnown(lost, reported []stage.Outcome) []stage.Outcome {
	merged := merge(reported)
	return slices.DeleteFunc(lost, func(o stage.Outcome) bool {
		other, ok := merged[Key{o.Seed, o.Platform}]
		return ok && o.Status != stage.Partial && better(other.Status, stage.Empty)
	})
}

// better reports whether an outcome says more about a seed than another one. Videos
// come first, then trouble: a source that found nothing does not hide that another
// could not search. Blocked is the least of the troubles, since a source that broke
// off has it for all its seeds.
func better(a, b stage.Status) bool {
	order := []stage.Status{
		stage.OK, stage.Partial, stage.Changed, stage.Quota, stage.Misconfigured, stage.Blocked,
		stage.Empty, stage.NotFound, stage.Unsupported,
	}
	return slices.Index(order, a) < slices.Index(order, b)
}

// merge returns one outcome a seed and platform.
func merge(outcomes []stage.Outcome) map[Key]stage.Outcome {
	merged := map[Key]stage.Outcome{}
	for _, o := range outcomes {
		key := Key{o.Seed, o.Platform}
		if old, ok := merged[key]; ok {
			asked, returned := max(o.Asked, old.Asked), o.Returned+old.Returned
			if !better(o.Status, old.Status) {
				o = old
			}
			o.Asked, o.Returned = asked, returned
		}
		merged[key] = o
	}
	return merged
}

// compare marks the seeds that brought videos before and now bring none: those of the
// scroll, and those of its folders. A video that two seeds led to is delivered once, so
// a seed without videos of its own has changed only where its sources found none for it.
func (t *table) compare(in Input, reported map[Key]stage.Outcome) {
	folders := slices.ContainsFunc(in.Answers, func(a *Answer) bool { return !a.Searches })
	spelled := make(map[Key]Key, len(t.entries))
	for _, e := range t.entries {
		spelled[keyOf(e.Seed, e.Platform)] = e.key()
	}
	for _, old := range in.Before {
		key, seed := old.key(), named(in.Seeds, old.Seed, old.Platform)
		if seed != nil {
			key.Seed = seed.Text()
		}
		if now, ok := spelled[keyOf(old.Seed, old.Platform)]; ok {
			key = now
		}
		e := t.find(key)
		switch {
		case old.Returned == 0 || reported[key].Returned > 0:
		case e == nil && seed != nil:
			e = t.entry(key)
			e.Outcome, e.Asked, e.Planned = string(stage.Changed), seed.Limit, true
		case e == nil && !old.Planned && folders:
			t.entry(key).Outcome = string(stage.Changed)
		case e != nil && e.Returned == 0 && slices.Contains([]string{"ok", "empty", "not_found"}, e.Outcome):
			e.Outcome = string(stage.Changed)
		}
	}
}

// complete adds the planned seeds that have no entry yet.
func (t *table) complete(in Input) {
	for _, seed := range in.Seeds {
		covered := slices.ContainsFunc(t.entries, func(e Entry) bool {
			return (seed.Platform == "" || seed.Platform == e.Platform) && strings.EqualFold(plan.Handle(e.Seed), plan.Handle(seed.Text()))
		})
		if covered {
			continue
		}
		why, e := missing(in.Answers, seed), t.entry(Key{seed.Text(), seed.Platform})
		e.Outcome, e.Asked, e.Planned, e.RetryAt = string(why.Status), seed.Limit, true, why.RetryAt
	}
}

// missing is the outcome of a seed that no source reported on. It is unsupported where
// no source searches its platform; a handle for any platform could be in a folder too.
func missing(answers []*Answer, seed stage.Seed) stage.Outcome {
	anywhere := seed.Handle != "" && seed.Platform == ""
	why := stage.Outcome{Status: stage.Unsupported}
	if anywhere {
		why.Status = stage.Empty
	}
	for _, a := range answers {
		searched := a.Searches && (seed.Platform == "" || len(a.Serves) == 0 || slices.Contains(a.Serves, seed.Platform))
		next := stage.Outcome{Status: stage.Empty}
		switch {
		case !searched && !anywhere:
			continue
		case a.Err != nil:
			next = a.loss()
		case a.Full:
			next.Status = stage.Partial
		}
		if better(next.Status, why.Status) {
			why = next
		}
	}
	return why
}
