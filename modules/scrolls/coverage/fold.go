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
	missing := stage.Outcome{Status: stage.Empty}
	for _, a := range in.Answers {
		if a.Err != nil {
			missing = a.loss()
			in.Before = nil // the failed source could have brought the videos
		}
	}
	var t table
	reported := merge(reports(in.Answers))
	for key, o := range reported {
		e := t.entry(key)
		e.Outcome, e.Asked, e.RetryAt = string(o.Status), o.Asked, o.RetryAt
	}
	t.entries = in.Returned.AddTo(t.entries, func(e *Entry) *int { return &e.Returned })
	t.entries = in.Trimmed.AddTo(t.entries, func(e *Entry) *int { return &e.Trimmed })
	planned := map[string]bool{}
	for _, seed := range in.Seeds {
		planned[seed.Text()] = true
	}
	for i := range t.entries {
		t.entries[i].Planned = planned[t.entries[i].Seed]
	}
	t.compare(in.Before, reported, planned)
	t.complete(in, missing)
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

// better reports whether an outcome tells more of a seed than another one. Videos
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

// compare marks the seeds that brought videos before and now bring none. A video that
// two seeds led to is delivered once, so a seed without videos of its own has changed
// only where its sources found none for it.
func (t *table) compare(before []Entry, reported map[Key]stage.Outcome, planned map[string]bool) {
	for _, old := range before {
		e := t.find(old.key())
		switch {
		case old.Returned == 0 || reported[old.key()].Returned > 0:
		case e == nil && !old.Planned && !planned[old.Seed]: // a source found the seed, and finds it no more
			t.entry(old.key()).Outcome = string(stage.Changed)
		case e != nil && e.Returned == 0 && slices.Contains([]string{"ok", "empty", "not_found"}, e.Outcome):
			e.Outcome = string(stage.Changed)
		}
	}
}

// complete adds the seeds that no source reported on: those on a platform that no
// source searches, and handles without a platform. One that had videos before has
// changed where it had them. missing is the outcome of the other handles.
func (t *table) complete(in Input, missing stage.Outcome) {
	for _, seed := range in.Seeds {
		why, expected := missing, seed.Handle != ""
		if seed.Platform != "" {
			why, expected = stage.Outcome{Status: stage.Unsupported}, !searched(in.Answers, seed.Platform)
		}
		of := func(e Entry) bool {
			return strings.EqualFold(plan.Handle(e.Seed), plan.Handle(seed.Text())) && (seed.Platform == "" || seed.Platform == e.Platform)
		}
		if !expected || slices.ContainsFunc(t.entries, of) {
			continue
		}
		found := false
		for _, old := range in.Before {
			if old.Returned > 0 && of(old) {
				found = true
				e := t.entry(old.key())
				e.Outcome, e.Asked, e.Planned = string(stage.Changed), seed.Limit, true
			}
		}
		if !found {
			e := t.entry(Key{seed.Text(), seed.Platform})
			e.Outcome, e.Asked, e.Planned, e.RetryAt = string(why.Status), seed.Limit, true, why.RetryAt
		}
	}
}

// searched reports whether some source searches a platform.
func searched(answers []*Answer, platform string) bool {
	return slices.ContainsFunc(answers, func(a *Answer) bool {
		return a.Searches && (len(a.Serves) == 0 || slices.Contains(a.Serves, platform))
	})
}
