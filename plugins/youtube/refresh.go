package youtube

import (
	"context"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// refresh reads known videos again, 50 for a unit. Every video has an outcome of
// its own, whose seed is its id. One that a whole answer leaves out is
// `not_found`: deleted or private.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	a, wrong := s.open(ctx, call)
	inner, cancel := site.Early(ctx)
	defer cancel()
	ids, outcomes := wanted(refs)
	var over *site.Stop // ended all that is left
	for group := range slices.Chunk(ids, perPage) {
		found, unread, err := map[string]bool{}, 0, wrong
		stop := over
		if err == nil && stop == nil {
			err = a.look(inner, group, &unread, func(record stage.Record) error {
				if found[record.ExternalID] || !slices.Contains(group, record.ExternalID) {
					return nil
				}
				found[record.ExternalID] = true
				// The library would put these in the place of those that it has, and a
				// lookup does not know all of them: not how the Short was recognised, and
				// not the handle that it was found by.
				record.Metadata, record.Source = nil, nil
				return emit(record)
			})
		}
		if stop == nil {
			stop = site.Stopped(ctx, inner, err)
		}
		if stop == nil && err != nil {
			return outcomes, err
		}
		if stop == nil && unread > 0 {
			stop = &site.Stop{Status: stage.Partial, Detail: "some of the answer could not be read"}
		}
		if stop != nil && stop.Scope == site.All {
			over = stop
		}
		outcomes = append(outcomes, account(group, found, stop)...)
	}
	return outcomes, nil
}

// wanted are the ids that can be asked for, and outcomes for the other refs.
func wanted(refs []stage.Ref) (ids []string, outcomes []stage.Outcome) {
	seen := map[stage.Ref]bool{}
	for _, ref := range refs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		if ref.Platform == platform && videoForm.MatchString(ref.ExternalID) {
			ids = append(ids, ref.ExternalID)
			continue
		}
		outcomes = append(outcomes, stage.Outcome{
			Seed: ref.ExternalID, Platform: platform, Status: stage.Unsupported, Asked: 1, Detail: "no id of a video of YouTube",
		})
	}
	return ids, outcomes
}

// account says how each video of a group fared.
func account(group []string, found map[string]bool, stop *site.Stop) []stage.Outcome {
	outcomes := make([]stage.Outcome, 0, len(group))
	for _, id := range group {
		o := stage.Outcome{Seed: id, Platform: platform, Status: stage.OK, Asked: 1}
		switch {
		case found[id]:
			o.Returned = 1
		case stop != nil:
			o = stop.Outcome(o)
		default:
			o.Status, o.Detail = stage.NotFound, "the interface has it no more"
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}
