// Package youtube is the source that asks the YouTube Data API.
//
// It sees the Shorts of a channel by its handle, and Shorts of a term by a search,
// with exact counts. Google's client library builds the requests and reads the
// errors; answers are read from their bytes, since the library's types make a
// hidden count 0 and lose a page over one odd value.
//
// Collected videos carry the subscribers of their channel, which YouTube rounds to three
// digits, as followers; absent if the channel hides them. A channel found by its handle
// has them in the same answer. A page of a search costs one unit more, for at most 50
// channels that the call has not read yet. A refresh leaves them out: its units are for
// the counts of videos.
package youtube

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/api/option"
	yt "google.golang.org/api/youtube/v3"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const platform = "youtube"

const (
	// fallback is how many Shorts a seed asks for that says nothing.
	fallback = 50
	// perPage is the most that one request can give, of anything.
	perPage = 50
)

// The allowances of a project: calls of search.list, calls of videos.batchGetStats, and
// units of the rest.
const (
	searchQuota = "search"
	statsQuota  = "stats"
	unitQuota   = "units"
)

// Spec is the stage.
func Spec() stage.Spec { return source{}.spec() }

// source is the stage with what tests turn: its clock and its timeouts.
type source struct{ site site.Options }

func (s source) spec() stage.Spec {
	return stage.Spec{
		ID: "youtube", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{platform},
		Summary: "Asks the YouTube Data API: Shorts of channels and of search terms.",
		Settings: []stage.Setting{
			{Name: "derived_metrics_accepted", Own: true, Required: true, Help: "`yes` states that you accepted the amendment to YouTube's API terms that allows scores of your own over its data."},
			{Name: "api_url", Default: "https://youtube.googleapis.com/", Endpoint: true, Help: "Address of the interface."},
			{Name: "order", Own: true, Default: "relevance", Type: stage.Choice, Values: []string{"relevance", "viewCount", "date"}, Help: "Order of searches."},
			{Name: "region", Own: true, Help: "Country of searches, such as US; empty for any."},
			{Name: "language", Own: true, Help: "Language that searches prefer, such as en; empty for any."},
			{Name: "days", Own: true, Default: "30", Type: stage.Number, Min: "0", Max: "3650", Help: "How many days back searches look; 0 is any time."},
			{Name: "patience", Default: "5m", Type: stage.Duration, Min: "0s", Help: "How long the waits of one call may take together; 0s never waits."},
			{Name: "searches_per_day", Own: true, Type: stage.Number, Min: "1", Help: "Calls of search.list that Google grants you, where it is not 100."},
			{Name: "stats_per_day", Own: true, Type: stage.Number, Min: "1", Help: "Calls of videos.batchGetStats that Google grants you, where it is not 10000."},
			{Name: "units_per_day", Own: true, Type: stage.Number, Min: "1", Help: "Units that Google grants you for the rest, where it is not 10000."},
		},
		Secrets: []string{"api_key"}, RequiredSecrets: []string{"api_key"},
		Hosts: []string{"youtube.googleapis.com:443"},
		Quotas: []stage.Allowance{
			{Name: searchQuota, Limit: 100, Setting: "searches_per_day", Window: stage.PacificDay, Cost: stage.Cost{Term: 1}},
			{Name: statsQuota, Limit: 10_000, Setting: "stats_per_day", Window: stage.PacificDay},
			{Name: unitQuota, Limit: 10_000, Setting: "units_per_day", Window: stage.PacificDay, Cost: stage.Cost{Handle: 3, Term: 2}},
		},
		Requests: stage.Cost{Handle: 3, Term: 3}, // channel, playlist and videos; search, videos and channels
		Limits:   stage.Limits{Calls: 2},
		Collect:  s.collect,
		Refresh:  s.refresh,
		Check:    s.check,
	}
}

// open reads the settings; a *site.Stop says what is wrong with them.
func (s source) open(ctx context.Context, call *stage.Call) (*api, error) {
	if call.Settings["derived_metrics_accepted"] != "yes" {
		return nil, sources.Misconfigured("YouTube's terms allow scores over its data only after their amendment was accepted: accept it, then set `derived_metrics_accepted` to yes")
	}
	if call.Secrets["api_key"] == "" {
		return nil, sources.Misconfigured("the secret api_key is not set")
	}
	switch call.Settings["order"] {
	case "relevance", "viewCount", "date":
	default:
		return nil, sources.Misconfigured("the setting `order` is neither relevance, viewCount nor date")
	}
	days, err := strconv.Atoi(call.Settings["days"])
	if err != nil || days < 0 || days > 3650 {
		return nil, sources.Misconfigured("the setting `days` is no number from 0 to 3650")
	}
	asked, err := sources.Open(call, s.site, "5m")
	if err != nil {
		return nil, err
	}
	a := &api{
		call: call, site: asked, days: days,
		channelParts: sources.NewNames([]string{"id"}, []string{"contentDetails", statistics}),
		videoParts:   sources.NewNames([]string{"snippet"}, []string{"contentDetails", statistics}),
	}
	a.asker = &asker{site: a.site, key: call.Secrets["api_key"]}
	a.service, err = yt.NewService(ctx,
		option.WithHTTPClient(a.asker.client()), option.WithEndpoint(strings.TrimRight(call.Settings["api_url"], "/")+"/"))
	if err != nil {
		return nil, sources.Misconfigured("the setting `api_url` is no address")
	}
	return a, nil
}

// collect answers for every seed.
func (s source) collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	a, wrong := s.open(ctx, call)
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
			if seed.Handle != "" {
				record.Source = &stage.Source{Handle: strings.TrimLeft(seed.Handle, "@")}
			}
			return emit(record)
		}
		var err error
		if seed.Handle != "" {
			err = a.shorts(ctx, seed.Handle, h)
		} else {
			err = a.search(ctx, seed.Term, h)
		}
		if err == nil {
			err = h.missing()
		}
		if err == nil {
			err = a.videoParts.Short()
		}
		if err == nil {
			err = a.channelParts.Short()
		}
		return len(h.seen), err
	})
}
