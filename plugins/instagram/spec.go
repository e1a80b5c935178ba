// Package instagram is the source that asks Instagram's Graph API.
//
// It sees reels of professional accounts by their handles, with counts, and videos
// of a hashtag without views, which serve to discover and are never scored.
package instagram

import (
	"context"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const platform = "instagram"

// fallback is how many reels a seed asks for that says nothing.
const fallback = 50

// Spec is the stage.
func Spec() stage.Spec { return source{}.spec() }

// source is the stage with what tests turn: its clock and its timeouts.
type source struct{ site site.Options }

func (s source) spec() stage.Spec {
	return stage.Spec{
		ID: "instagram", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{platform},
		Summary: "Asks Instagram's Graph API: reels of professional accounts, and hashtags to discover others.",
		Settings: []stage.Setting{
			{Name: "user_id", Own: true, Required: true, Help: "Id of your own professional account, which requests are made for."},
			{Name: "api_url", Default: "https://graph.facebook.com", Endpoint: true, Help: "Address of the interface."},
			{Name: "version", Default: "v25.0", Help: "Version of the interface."},
			{Name: "patience", Default: "10m", Type: stage.Duration, Min: "0s", Help: "How long the waits of one call may take together; 0s never waits."},
			{Name: "hashtags_per_week", Own: true, Type: stage.Number, Min: "1", Help: "How many different hashtags Instagram grants you, where it is not 30."},
		},
		Secrets: []string{"access_token"}, RequiredSecrets: []string{"access_token"},
		Env:      map[string]string{"access_token": "INSTAGRAM_TOKEN"},
		Hosts:    []string{"graph.facebook.com:443"},
		Quotas:   []stage.Allowance{{Name: "hashtags", Limit: 30, Setting: "hashtags_per_week", Window: stage.Week, Cost: stage.Cost{Term: 1}}},
		Requests: stage.Cost{Handle: 1, Term: 3}, // a page; the hashtag's id, its top and its recent videos
		Limits:   stage.Limits{Calls: 2},
		Collect:  s.collect,
		Refresh:  s.refresh,
		Check:    s.check,
	}
}

var (
	numberForm  = lazy.Pattern(`^[0-9]{1,30}$`)
	versionForm = lazy.Pattern(`^v[0-9]{1,3}\.[0-9]{1,2}$`)
)

// open reads the settings; a *site.Stop says what is wrong with them.
func (s source) open(call *stage.Call) (*graph, error) {
	if call.Secrets["access_token"] == "" {
		return nil, sources.Misconfigured("the secret access_token is not set")
	}
	if !numberForm().MatchString(call.Settings["user_id"]) {
		return nil, sources.Misconfigured("the setting `user_id` is no number")
	}
	if !versionForm().MatchString(call.Settings["version"]) {
		return nil, sources.Misconfigured("the setting `version` is none such as v25.0")
	}
	asked, err := sources.Open(call, s.site, "10m")
	if err != nil {
		return nil, err
	}
	return &graph{
		site: asked, call: call, user: call.Settings["user_id"], handles: handleFields(), tags: tagFields(), size: perPage,
		base: strings.TrimRight(call.Settings["api_url"], "/") + "/" + call.Settings["version"] + "/",
	}, nil
}

// short says which fields the interface refused for a seed of this kind; nil for none.
func (g *graph) short(seed stage.Seed) error {
	if seed.Handle != "" {
		return g.handles.Short()
	}
	return g.tags.Short()
}

// collect answers for every seed.
func (s source) collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	g, wrong := s.open(call)
	given := map[string]bool{}
	return site.Each(ctx, platform, seeds, fallback, func(ctx context.Context, seed stage.Seed) (int, error) {
		if wrong != nil {
			return 0, wrong
		}
		h := &haul{limit: site.Asked(seed, fallback), seen: map[string]bool{}}
		h.take = func(record stage.Record) error {
			if given[record.ExternalID] {
				return nil // another seed brought it
			}
			given[record.ExternalID] = true
			record.Seed = seed.Text()
			return emit(record)
		}
		var err error
		if seed.Handle != "" {
			err = g.reels(ctx, seed.Handle, h, maxPages)
		} else {
			err = g.tagged(ctx, seed.Term, h)
		}
		if err == nil {
			err = h.missing()
		}
		if err == nil && len(h.seen) > 0 {
			err = g.short(seed)
		}
		return len(h.seen), err
	})
}
