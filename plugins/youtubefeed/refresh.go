package youtubefeed

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// maxHandles bounds the channels that a refresh asks for.
const maxHandles = 20

// refresh reads known Shorts again: those that are among the newest of the channels that the brief
// names. Each has an outcome of its own, whose seed is its id. One that no feed has is
// `unsupported`, since it is only not among the newest.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	r, err := s.open(call)
	inner, cancel := site.Early(ctx)
	defer cancel()
	open := map[string]bool{}
	for _, ref := range refs {
		open[ref.ExternalID] = ref.Platform == platform
	}
	left := len(open)
	stop := site.Stopped(ctx, inner, err)
	for _, handle := range handlesOf(call.Brief) {
		if left == 0 || stop != nil && stop.Scope == site.All {
			break
		}
		found, err := r.shorts(inner, handle)
		if err != nil {
			if stop = site.Stopped(ctx, inner, err); stop == nil {
				return nil, err
			}
		}
		for _, record := range found {
			if !open[record.ExternalID] {
				continue
			}
			open[record.ExternalID] = false
			left--
			record.Metadata = nil // the source that brought the video may know more
			if err := emit(record); err != nil {
				return nil, err
			}
		}
	}
	return fates(refs, open, stop), nil
}

// fates are the outcomes of the videos; open has those that were not met.
func fates(refs []stage.Ref, open map[string]bool, stop *site.Stop) (outcomes []stage.Outcome) {
	done := map[string]bool{}
	for _, ref := range refs {
		if done[ref.ExternalID] {
			continue
		}
		done[ref.ExternalID] = true
		o := stage.Outcome{Seed: ref.ExternalID, Platform: platform, Status: stage.OK, Asked: 1}
		switch {
		case ref.Platform == platform && !open[ref.ExternalID]:
			o.Returned = 1
		case stop != nil && stop.Status != stage.NotFound: // of a channel, not of the video
			o = stop.Outcome(o)
		default:
			o.Status, o.Detail = stage.Unsupported, "it is not among the newest Shorts of a channel that the brief names"
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// handlesOf are the channels that a brief names: the address of one, `youtube:name`, or `@name`,
// which may be one of any platform.
func handlesOf(brief stage.Brief) (all []string) {
	for _, text := range append([]string{brief.Website}, brief.Competitors...) {
		name := handleOf(strings.TrimSpace(text))
		if handleForm().MatchString(name) && !slices.Contains(all, name) && len(all) < maxHandles {
			all = append(all, name)
		}
	}
	return all
}

func handleOf(text string) string {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return name
	}
	if head, name, ok := strings.Cut(text, ":"); ok && strings.EqualFold(head, platform) {
		return strings.TrimLeft(name, "@")
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	address, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"youtube.com", "www.youtube.com", "m.youtube.com"}, strings.ToLower(address.Hostname())) {
		return ""
	}
	first, rest, _ := strings.Cut(strings.Trim(address.Path, "/"), "/")
	if name, ok := strings.CutPrefix(first, "@"); ok {
		return name
	}
	if id, _, _ := strings.Cut(rest, "/"); first == "channel" {
		return id
	}
	return ""
}
