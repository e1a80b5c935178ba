package youtube

import (
	"context"
	"slices"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// refresh reads known videos again, 50 for a unit. Every video has an outcome of
// its own, whose seed is its id. One that a whole answer leaves out is
// `not_found`: deleted or private.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	a, wrong := s.open(ctx, call)
	ids, outcomes := sources.Known(platform, refs, videoForm().MatchString, "no id of a video of YouTube")
	absent := stage.Outcome{Platform: platform, Status: stage.NotFound, Detail: "the interface has it no more"}
	fates, err := sources.Refresh(ctx, slices.Collect(slices.Chunk(ids, perPage)), absent, wrong, func(ctx context.Context, group []string) (map[string]bool, error) {
		found, unread := map[string]bool{}, 0
		err := a.look(ctx, group, &unread, func(record stage.Record) error {
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
		if err == nil && unread > 0 {
			err = &site.Stop{Status: stage.Partial, Detail: "some of the answer could not be read"}
		}
		return found, err
	})
	return append(outcomes, fates...), err
}
