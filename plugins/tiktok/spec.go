// Package tiktok is the source that asks TikTok's Research API.
//
// That interface is for independent, not-for-profit researchers whom TikTok has
// approved, so the source is off until the operator states to be one. Its counts
// lag behind the site's, and say so.
package tiktok

import (
	"context"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const platform = "tiktok"

// Attestation is what the setting `eligible` must say, to the letter.
const Attestation = "yes"

// fallback is how many videos a seed asks for that says nothing.
const fallback = 100

// Spec is the stage.
func Spec() stage.Spec { return source{}.spec() }

// source is the stage with what tests turn: its clock and its timeouts.
type source struct{ site site.Options }

func (s source) spec() stage.Spec {
	return stage.Spec{
		ID: "tiktok", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{platform},
		Summary: "Asks TikTok's Research API; only for researchers whom TikTok has approved.",
		Settings: []stage.Setting{
			{Name: "eligible", Own: true, Required: true, Help: "`yes` states that TikTok has approved you as a researcher and that you use it as its terms allow."},
			{Name: "api_url", Default: "https://open.tiktokapis.com", Endpoint: true, Help: "Address of the interface."},
			{Name: "days", Own: true, Default: "30", Type: stage.Number, Min: "1", Max: "365", Help: "How many days back to look."},
			{Name: "regions", Own: true, Type: stage.List, Help: "Only videos of these countries: two-letter codes."},
			{Name: "patience", Default: "10m", Type: stage.Duration, Min: "0s", Help: "How long the waits of one call may take together; 0s never waits."},
			{Name: "requests_per_day", Own: true, Type: stage.Number, Min: "1", Help: "What TikTok grants you, where it is not 1000."},
			{Name: "records_per_day", Own: true, Type: stage.Number, Min: "1", Help: "What TikTok grants you, where it is not 100000."},
		},
		Secrets: []string{"client_key", "client_secret"}, RequiredSecrets: []string{"client_key", "client_secret"},
		Hosts: []string{"open.tiktokapis.com:443"},
		Quotas: []stage.Allowance{
			{Name: "requests", Limit: 1000, Setting: "requests_per_day", Window: stage.UTCDay, Cost: stage.Cost{Handle: 1, Term: 1}},
			{Name: "records", Limit: 100_000, Setting: "records_per_day", Window: stage.UTCDay, Cost: stage.Cost{Handle: perPage, Term: perPage}},
		},
		Requests: stage.Cost{Handle: 1, Term: 1}, // one page
		Limits:   stage.Limits{Calls: 2},
		Collect:  s.collect,
		Refresh:  s.refresh,
		Check:    s.check,
	}
}

// options are the settings, read.
type options struct {
	days    int
	regions []string
}

// open reads the settings; a *site.Stop says what is wrong with them.
func (s source) open(call *stage.Call) (*session, options, error) {
	if call.Settings["eligible"] != Attestation {
		return nil, options{}, sources.Misconfigured("the setting `eligible` does not say `" + Attestation + "`: TikTok gives its Research API to approved researchers alone")
	}
	if call.Secrets["client_key"] == "" || call.Secrets["client_secret"] == "" {
		return nil, options{}, sources.Misconfigured("the secrets client_key and client_secret are not set")
	}
	days, err := strconv.Atoi(call.Settings["days"])
	if err != nil || days < 1 || days > 365 {
		return nil, options{}, sources.Misconfigured("the setting `days` is no number from 1 to 365")
	}
	asked, err := sources.Open(call, s.site, "10m")
	if err != nil {
		return nil, options{}, err
	}
	regions, ok := codes(call.Settings["regions"])
	if !ok {
		return nil, options{}, sources.Misconfigured("the setting `regions` is no list of two-letter codes")
	}
	return &session{
		site: asked, call: call, base: strings.TrimRight(call.Settings["api_url"], "/"), tries: maxTries, fields: fieldNames(),
	}, options{days: days, regions: regions}, nil
}

func codes(text string) ([]string, bool) {
	list := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	for i, code := range list {
		list[i] = strings.ToUpper(code)
		if len(code) != 2 || strings.Trim(list[i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return nil, false
		}
	}
	return list, true
}

// collect answers for every seed.
func (s source) collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	session, how, wrong := s.open(call)
	given := map[site.ID]bool{}
	return site.Each(ctx, platform, seeds, fallback, func(ctx context.Context, seed stage.Seed) (int, error) {
		if wrong != nil {
			return 0, wrong
		}
		filter, err := filterOf(seed, how.regions)
		if err != nil {
			return 0, err
		}
		h := &lookup{session: session, filter: filter, limit: site.Asked(seed, fallback), seen: map[site.ID]bool{}}
		h.take = func(v video) error {
			if given[v.ID] {
				return nil // another seed brought it
			}
			given[v.ID] = true
			record := v.record()
			record.Seed = seed.Text()
			return emit(record)
		}
		err = h.run(ctx, windows(session.site.Now(), how.days))
		return len(h.seen), err
	})
}
