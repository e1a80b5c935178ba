// Package youtubefeed is the source that reads the feeds which YouTube publishes of its channels.
//
// A feed has the newest 15 videos with exact views, likes and times, and needs no key:
//
//	handle ── its page, once ── channel ── the feed of its Shorts, once an hour ── records
//
// All accounts of a server share what was read. The hour of a channel begins at a minute of its
// own, and whatever is read within it looks the same to every account: the time of the counts is
// the beginning of the hour, a failure ends with the hour, and an answer that was read before
// takes as long as reading it did. So no account can tell from times, counts of requests or errors
// whether another one follows the channel.
package youtubefeed

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	platform = "youtube"
	// most is how many videos a feed has.
	most = 15
	// everyHour is how often a channel is asked for, by all accounts together.
	everyHour = time.Hour
	// gap is the pause between two requests, timeout the longest wait for an answer.
	gap, timeout = 500 * time.Millisecond, 8 * time.Second
	// biggest is the most bytes of a page or a feed.
	biggest = 6 << 20
)

// Spec is the stage.
func Spec() stage.Spec { return source{}.spec() }

// source is the stage with what tests turn: its clock and its timeouts.
type source struct{ site site.Options }

func (s source) spec() stage.Spec {
	return stage.Spec{
		ID: "youtube-feed", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{platform},
		Summary: "Reads YouTube's public feeds: the newest Shorts of channels, without a key.",
		Settings: []stage.Setting{
			{Name: "enabled", Default: "yes", Required: true, Type: stage.Choice, Values: []string{"yes", "no"}, Off: "no", Help: "`no` turns off YouTube's public feeds, which are read without a key, at most once an hour for each channel."},
			{Name: "url", Default: "https://www.youtube.com/", Endpoint: true, Help: "Address of the site."},
			{Name: "consent", Default: "no", Type: stage.Choice, Values: []string{"yes", "no"}, Help: "`yes` accepts the notice on cookies that YouTube shows in some countries in place of the page of a handle. Channels by id do not need it."},
		},
		Env:      map[string]string{"enabled": "YOUTUBE_FEED"},
		Hosts:    []string{"www.youtube.com:443"},
		Requests: stage.Cost{Handle: 2}, // the page of a new handle, and the feed
		// One request at a time, for all accounts.
		Limits: stage.Limits{Calls: 1},
		// The interface knows lengths, comments and older Shorts too.
		After: []string{"youtube"}, Fallback: true,
		Collect: s.collect,
		Refresh: s.refresh,
	}
}

// open reads the settings; a *site.Stop says what is wrong with them.
func (s source) open(call *stage.Call) (*reader, error) {
	base, err := url.Parse(strings.TrimRight(call.Settings["url"], "/"))
	if err != nil || base.Host == "" {
		return nil, sources.Misconfigured("the setting `url` is no address")
	}
	options := s.site
	if options.Timeout == 0 {
		options.Timeout = timeout
	}
	if options.Gap == 0 {
		options.Gap = gap
	}
	options.Body = biggest
	return &reader{call: call, site: site.New(call, options), gap: options.Gap, base: base.String(), consent: call.Settings["consent"] == "yes"}, nil
}

// collect answers for every seed.
func (s source) collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	r, wrong := s.open(call)
	given := map[string]bool{}
	return site.Each(ctx, platform, seeds, most, func(ctx context.Context, seed stage.Seed) (int, error) {
		if wrong != nil {
			return 0, wrong
		}
		if seed.Handle == "" {
			return 0, &site.Stop{Status: stage.Unsupported, Detail: "a feed belongs to a channel: no search has one"}
		}
		handle, limit := strings.TrimLeft(seed.Handle, "@"), site.Asked(seed, most)
		found, err := r.shorts(ctx, handle)
		returned := 0
		for _, record := range found[:min(len(found), limit)] {
			if !given[record.ExternalID] { // or another seed brought it
				given[record.ExternalID] = true
				record.Seed, record.Source = seed.Text(), &stage.Source{Handle: handle}
				if err := emit(record); err != nil {
					return returned, err
				}
			}
			returned++
		}
		if err == nil && returned >= most && limit > most {
			err = &site.Stop{Status: stage.Partial, Detail: "a feed has only the newest 15"}
		}
		return returned, err
	})
}
