package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// judge holds answers against what was asked.
type judge struct {
	call     *host.Conversation
	spec     stage.Spec
	answered map[stage.Ref]int
	records  int
}

// The rules on what an answer is about.
var (
	errUnasked = errors.New("rule: an answer is about a video of the input")
	errTwice   = errors.New("rule: a video has one answer")
	errUncited = errors.New("rule: a sentence cites facts of the input alone")
)

func (j *judge) about(ref stage.Ref) error {
	if !slices.ContainsFunc(j.call.Records, func(r stage.Record) bool { return r.Ref == ref }) {
		return errUnasked
	}
	if j.answered[ref]++; j.answered[ref] > 1 {
		return errTwice
	}
	return nil
}

func (j *judge) record(r *stage.Record) (stage.Repairs, error) {
	j.records++
	return r.Clean()
}

func (j *judge) verdict(v *stage.Verdict) (stage.Repairs, error) {
	repairs, err := v.Clean()
	return repairs, errors.Join(err, j.about(v.Ref))
}

func (j *judge) finding(f *stage.Finding) (stage.Repairs, error) {
	repairs, err := f.Clean()
	return repairs, errors.Join(err, j.about(f.Ref))
}

func (j *judge) sentence(s *stage.Sentence) (stage.Repairs, error) {
	repairs, err := s.Clean()
	for _, id := range s.Cites {
		if !slices.ContainsFunc(j.call.Facts, func(f stage.Fact) bool { return f.ID == id || slices.Contains(f.Examples, id) }) {
			return repairs, errors.Join(err, fmt.Errorf("%w: %q is none", errUncited, id))
		}
	}
	return repairs, err
}

// missing are the rules that are broken by what was not answered.
func (j *judge) missing(done *stagev1.Done) (all []error) {
	switch j.spec.Kind {
	case stage.ScreenKind:
		for i := range j.call.Records {
			if ref := j.call.Records[i].Ref; j.answered[ref] == 0 {
				all = append(all, fmt.Errorf("rule: a screen gives every video one verdict: %s %s has none", ref.Platform, ref.ExternalID))
			}
		}
	case stage.SourceKind:
		all = append(j.unanswered(done), j.odd(stage.DecodeOutcomes(done.GetOutcomes()))...)
	}
	return all
}

// unanswered are seeds without an outcome.
func (j *judge) unanswered(done *stagev1.Done) (all []error) {
	for _, seed := range j.call.Seeds {
		if !slices.ContainsFunc(done.GetOutcomes(), func(o *stagev1.Outcome) bool { return o.GetSeed() == seed.Text() }) {
			all = append(all, fmt.Errorf("rule: every seed has an outcome: %q has none", seed.Text()))
		}
	}
	return all
}

// odd is what the host would change in the outcomes of a source, or end the call for.
func (j *judge) odd(outcomes []stage.Outcome) (all []error) {
	returned, cost, most := 0, int64(0), int64(0)
	for _, o := range outcomes {
		said, price := o.Status, o.Cost
		if repairs := o.Clean(); o.Status != said {
			all = append(all, fmt.Errorf("rule: an outcome has a status of the protocol: %q has %.40q%s", o.Seed, said, nearest.Hint(string(said), stage.Statuses())))
		} else if repairs.Any() {
			all = append(all, fmt.Errorf("rule: an outcome is within its bounds: that of %q is not", o.Seed))
		}
		returned += o.Returned
		if price != nil && j.spec.Price == (stage.Price{}) {
			all = append(all, fmt.Errorf("rule: an outcome costs something where the description has a price: %q does", o.Seed))
		}
		cost += j.spec.Price.Of(o)
	}
	if returned != j.records {
		all = append(all, fmt.Errorf("rule: the outcomes add up to the records: they say %d returned, %d came", returned, j.records))
	}
	for _, seed := range j.call.Seeds {
		most += j.spec.Price.Most(seed.Limit) * int64(max(len(j.spec.Platforms), 1))
	}
	for range j.call.Refs {
		most += j.spec.Price.Most(1)
	}
	if cost > most && j.spec.Price != (stage.Price{}) {
		all = append(all, fmt.Errorf("rule: outcomes cost at most the price: they cost %s USD, the price of this call is %s USD", stage.FormatMoney(cost), stage.FormatMoney(most)))
	}
	return all
}
