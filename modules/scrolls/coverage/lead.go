package coverage

import (
	"cmp"
	"strings"

	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Lead returns the seed whose entry counts a record of a source. The kind of the
// record is known, see [plan.Attribute].
//
// The own seeds of a folder are the handles of its videos, and the name of the source
// for videos without one. Any other source finds videos for planned seeds only. Of a
// record that names none of them, the seed is the one that its origin names, then the
// one whose account it is of, then the first of its kind, then the first.
func Lead(rec stage.Record, source string, searches bool, seeds []stage.Seed) string {
	if seed := named(seeds, rec.Seed, rec.Platform); seed != nil {
		return seed.Text()
	}
	own := cmp.Or(rec.Seed, source)
	if !searches || len(seeds) == 0 {
		return own
	}
	kind := plan.Niche
	if rec.Source != nil {
		kind = rec.Source.Kind
		for _, text := range []string{rec.Source.SeededBy, rec.Source.Handle} {
			if seed := named(seeds, text, rec.Platform); seed != nil {
				return seed.Text()
			}
		}
	}
	best, most := &seeds[0], 0
	for i := range seeds {
		if seeds[i].Platform != "" && seeds[i].Platform != rec.Platform {
			continue
		}
		fit := 1
		if seeds[i].Kind == kind {
			fit = 2
		}
		if fit > most {
			best, most = &seeds[i], fit
		}
	}
	return best.Text()
}

// named returns the planned seed that a text names on a platform, in any spelling of
// a handle; an empty platform stands for any. It returns nil if there is none.
func named(seeds []stage.Seed, text, platform string) *stage.Seed {
	if text == "" {
		return nil
	}
	for i := range seeds {
		fits := seeds[i].Platform == "" || platform == "" || seeds[i].Platform == platform
		if fits && strings.EqualFold(plan.Handle(seeds[i].Text()), plan.Handle(text)) {
			return &seeds[i]
		}
	}
	return nil
}

// settled returns the outcomes of a source by planned seeds. What a source that
// searches reports on any other seed belongs to the seed that led there. If that is
// not known, trouble is the outcome of the seeds that the source did not report on.
func (a *Answer) settled(seeds []stage.Seed) []stage.Outcome {
	var own, others []stage.Outcome
	for _, o := range a.Outcomes {
		if seed := named(seeds, o.Seed, o.Platform); seed != nil {
			o.Seed, o.Platform = seed.Text(), cmp.Or(o.Platform, seed.Platform)
			own = append(own, o)
		} else if !a.Searches || len(seeds) == 0 {
			own = append(own, o)
		} else {
			others = append(others, o)
		}
	}
	reported := merge(own)
	for _, o := range others {
		trouble := better(o.Status, stage.Empty) && o.Status != stage.OK
		if lead, known := a.Leads[Key{o.Seed, o.Platform}]; known {
			if o.Seed, o.Asked = lead, 0; !trouble && o.Status != stage.OK {
				o.Status, o.RetryAt = stage.Empty, nil // of the seed itself it says nothing
			}
			own = append(own, o)
			continue
		}
		for _, seed := range a.Seeds {
			o.Seed, o.Asked = seed.Text(), seed.Limit
			if _, known := reported[Key{o.Seed, o.Platform}]; trouble && !known && (seed.Platform == "" || seed.Platform == o.Platform) {
				own = append(own, o)
			}
		}
	}
	return own
}
