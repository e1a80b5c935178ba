package recipe

import (
	"context"
	"errors"
	"strconv"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// refresh reads known videos again, each by a request for its id, as many as the setting
// `refreshes` allows. Only an error that means `gone` says that a video is gone for ever.
func (c *Recipe) refresh(ctx context.Context, call *stage.Call, options site.Options, refs []stage.Ref, emit func(stage.Record) error) (outcomes []stage.Outcome, err error) {
	a, wrong := c.open(call, options)
	left, _ := strconv.Atoi(call.Settings["refreshes"]) // checked by the host; none is none
	for _, platform := range c.names {
		q := c.requests[platform][byID]
		if q == nil {
			continue
		}
		var mine []stage.Ref
		for _, ref := range refs {
			if ref.Platform == platform {
				mine = append(mine, ref)
			}
		}
		ids, unable := sources.Known(platform, mine, videoForm().MatchString, "no video has an id of that form")
		outcomes = append(outcomes, unable...)
		for n := left; n < len(ids); n++ {
			outcomes = append(outcomes, stage.Outcome{Seed: ids[n], Platform: platform, Status: stage.Unsupported, Asked: 1, Detail: "more than the setting `refreshes` allows a scroll to pay for"})
		}
		ids = ids[:min(left, len(ids))]
		left -= len(ids)
		groups := make([][]string, len(ids))
		for i, id := range ids {
			groups[i] = []string{id}
		}
		absent := stage.Outcome{Platform: platform, Status: stage.Unsupported, Detail: c.ID + " does not have it: it may or may not be gone"}
		some, err := sources.Refresh(ctx, groups, absent, wrong, func(ctx context.Context, ids []string) (map[string]bool, error) {
			return a.again(ctx, platform, q, ids[0], emit)
		})
		if outcomes = append(outcomes, some...); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// again reads one video again.
func (a *asker) again(ctx context.Context, platform string, q *request, id string, emit func(stage.Record) error) (map[string]bool, error) {
	found := map[string]bool{}
	h := &haul{limit: 1, seen: map[string]bool{}, emit: func(record stage.Record) error {
		if record.ExternalID != id {
			return nil
		}
		found[id] = true
		record.Metadata = nil // the source that brought the video may know more
		return emit(record)
	}}
	answer, err := a.ask(ctx, q, values{byID: id, "limit": "1"}, 1, nil)
	if err == nil {
		err = a.take(ctx, platform, q, answer, h)
	}
	var lost *missing
	var stop *site.Stop
	switch {
	case errors.As(err, &lost) && !lost.final, errors.As(err, &stop) && stop.Status == stage.Empty:
		return found, nil
	}
	return found, err
}
