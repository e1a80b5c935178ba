package instagram

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	// maxHandles and refreshPages bound what a refresh asks for.
	maxHandles   = 10
	refreshPages = 4
)

// refresh reads known reels again. The interface looks up no post of others by
// itself, so the accounts that the brief names are read, further back than a
// collection does. Each reel has an outcome of its own, whose seed is its code: one
// that was not met is `unsupported`, since it may still be there.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	g, wrong := s.open(call)
	inner, cancel := site.Early(ctx)
	defer cancel()
	open := map[string]bool{}
	for _, ref := range refs {
		open[ref.ExternalID] = ref.Platform == platform
	}
	left := len(open)
	h := &haul{limit: 1 << 30, seen: map[string]bool{}}
	h.take = func(record stage.Record) error {
		if !open[record.ExternalID] {
			return nil
		}
		open[record.ExternalID] = false
		if left--; left == 0 {
			h.limit = 0 // enough
		}
		// They would take the place of what the source that brought the reel knew.
		record.Metadata = nil
		return emit(record)
	}
	var over *site.Stop
	handles := handlesOf(call.Brief)
	if wrong != nil {
		handles = []string{""} // to say why
	}
	for _, handle := range handles {
		err := wrong
		if err == nil && (left == 0 || over != nil) {
			break
		}
		if err == nil {
			err = g.reels(inner, handle, h, refreshPages)
		}
		stop := site.Stopped(ctx, inner, err)
		if stop == nil && err != nil {
			return nil, err
		}
		if stop != nil && stop.Scope >= site.Kind {
			over = stop
		}
	}
	var short error
	if wrong == nil {
		short = g.handles.Short()
	}
	return refreshed(refs, open, over, short), nil
}

// refreshed says how each reel fared; open holds those that were not met,
// and short, if not nil, says what the others are without.
func refreshed(refs []stage.Ref, open map[string]bool, over *site.Stop, short error) []stage.Outcome {
	var outcomes []stage.Outcome
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
			if short != nil {
				o.Status, o.Detail = stage.Partial, short.Error()
			}
		case over != nil:
			o = over.Outcome(o)
		default:
			o.Status, o.Detail = stage.Unsupported, "a reel can be read again only through an account that the brief names, among its newest posts"
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// handlesOf are the accounts that a brief names: the address of a profile,
// `instagram:name`, or `@name`, which may be one of any platform.
func handlesOf(brief stage.Brief) []string {
	var all []string
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
	if err != nil || strings.TrimPrefix(strings.ToLower(address.Hostname()), "www.") != "instagram.com" {
		return ""
	}
	name, _, _ := strings.Cut(strings.Trim(address.Path, "/"), "/")
	if slices.Contains([]string{"p", "reel", "reels", "explore", "tv", "stories"}, name) {
		return ""
	}
	return name
}
