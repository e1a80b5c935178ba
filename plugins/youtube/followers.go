package youtube

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	yt "google.golang.org/api/youtube/v3"

	"github.com/scrollery/scrollery/plugins/stage"
)

// statistics is the part of a channel with its subscribers.
const statistics = "statistics"

// channels asks for channels by what by says, with the parts that YouTube takes.
func (a *api) channels(ctx context.Context, by func(*yt.ChannelsListCall) *yt.ChannelsListCall) (found listing, err error) {
	err = a.channelParts.Ask(func(parts []string) error {
		ask := by(a.service.Channels.List(parts).Context(ctx))
		got, err := a.list(ctx, unitQuota, func() error { _, err := ask.Do(); return err })
		if err == nil {
			found = got
		}
		return err
	})
	return found, err
}

// note keeps how many subscribers a channel has: none where it hides them, or where the
// answer has no whole number. YouTube rounds the number down to three digits.
func (a *api) note(channel string, raw json.RawMessage) {
	if a.followers == nil {
		a.followers = map[string]*int64{}
	}
	a.followers[channel] = nil
	var s struct {
		Count  json.RawMessage `json:"subscriberCount"` // a text; a number is as good
		Hidden bool            `json:"hiddenSubscriberCount"`
	}
	if json.Unmarshal(raw, &s) != nil || s.Hidden {
		return
	}
	if n, err := strconv.ParseInt(strings.Trim(string(s.Count), `"`), 10, 64); err == nil && n >= 0 {
		a.followers[channel] = &n
	}
}

// learn asks for the subscribers of the records' channels, at most perPage of them, where
// this call has not asked yet: one unit. Without an answer the records stay as they are,
// and h counts the channels. The error is the context's.
func (a *api) learn(ctx context.Context, records []stage.Record, h *haul) error {
	var ids []string
	asked := map[string]bool{}
	for i := range records {
		id := records[i].CreatorID
		if _, known := a.followers[id]; !known && !asked[id] && channelForm().MatchString(id) {
			asked[id], ids = true, append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := a.channels(ctx, func(ask *yt.ChannelsListCall) *yt.ChannelsListCall { return ask.Id(ids...).MaxResults(perPage) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		if h.unfollowed == nil {
			h.unfollowed = map[string]bool{}
		}
		maps.Copy(h.unfollowed, asked)
		return nil
	}
	for _, id := range ids {
		a.note(id, nil) // the answer may leave it out; it is not asked for again
		delete(h.unfollowed, id)
	}
	for _, one := range found.Items {
		if id := one.text(); asked[id] {
			a.note(id, one.Statistics)
		}
	}
	return nil
}
