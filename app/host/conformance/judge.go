package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// judge holds answers against what was asked.
type judge struct {
	call     *host.Conversation
	kind     stage.Kind
	answered map[stage.Ref]int
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
	switch j.kind {
	case stage.ScreenKind:
		for i := range j.call.Records {
			if ref := j.call.Records[i].Ref; j.answered[ref] == 0 {
				all = append(all, fmt.Errorf("rule: a screen gives every video one verdict: %s %s has none", ref.Platform, ref.ExternalID))
			}
		}
	case stage.SourceKind:
		for _, seed := range j.call.Seeds {
			if !slices.ContainsFunc(done.GetOutcomes(), func(o *stagev1.Outcome) bool { return o.GetSeed() == seed.Text() }) {
				all = append(all, fmt.Errorf("rule: every seed has an outcome: %q has none", seed.Text()))
			}
		}
	}
	return all
}
