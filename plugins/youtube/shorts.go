package youtube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	yt "google.golang.org/api/youtube/v3"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	// maxPages of one list; a channel may have hundreds without a Short among them.
	maxPages = 10
	// longest is how long a Short may be, in seconds.
	longest = 180
)

// How a Short was recognised, as `formatBasis` says in the metadata.
const (
	// byList: it is in the list that YouTube keeps of the channel's Shorts.
	byList = "uush"
	// byLength: it is no longer than a Short may be; a short video may be none.
	byLength = "duration"
)

var (
	channelForm = lazy.Pattern(`^UC[A-Za-z0-9_-]{22}$`)
	videoForm   = lazy.Pattern(`^[A-Za-z0-9_-]{4,40}$`)
)

// haul is what one seed brings.
type haul struct {
	limit  int
	seen   map[string]bool
	unread int
	// unfollowed are the channels whose subscribers could not be read.
	unfollowed map[string]bool
	take       func(stage.Record) error
}

func (h *haul) full() bool { return len(h.seen) >= h.limit }

// missing says that some of what came could not be read.
func (h *haul) missing() error {
	switch {
	case h.unread > 0:
		return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("%d videos could not be read", h.unread)}
	case len(h.unfollowed) > 0:
		return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("the followers could not be read; channels: %d", len(h.unfollowed))}
	}
	return nil
}

// listing is an answer's page, of any list.
type listing struct {
	Next  site.Text `json:"nextPageToken"`
	Items []item    `json:"items"`
}

// item is what is needed to go on; the rest of it is read as a video.
type item struct {
	ID      json.RawMessage `json:"id"`
	Details struct {
		VideoID   site.Text `json:"videoId"`
		Playlists struct {
			Uploads site.Text `json:"uploads"`
		} `json:"relatedPlaylists"`
	} `json:"contentDetails"`
	Statistics json.RawMessage `json:"statistics"`
}

// text is the id of an item whose id is a text, as that of a channel.
func (i item) text() (id string) {
	if json.Unmarshal(i.ID, &id) != nil {
		return ""
	}
	return id
}

// video is the id of the video that an item of a list is or names.
func (i item) video() string {
	id := string(i.Details.VideoID)
	if id == "" {
		var found struct {
			VideoID site.Text `json:"videoId"`
		}
		if json.Unmarshal(i.ID, &found) == nil {
			id = string(found.VideoID)
		}
	}
	if !videoForm().MatchString(id) {
		return ""
	}
	return id
}

// list asks for one page of a list.
func (a *api) list(ctx context.Context, quota string, do func() error) (listing, error) {
	raw, err := a.get(ctx, quota, do)
	if err != nil {
		return listing{}, err
	}
	return listed(raw)
}

// listed reads a page of any list.
func listed(raw []byte) (listing, error) {
	var page struct {
		Next  site.Text         `json:"nextPageToken"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return listing{}, &site.Stop{Status: stage.Changed, Detail: "YouTube answers with a list of another form"}
	}
	if page.Items == nil && sources.HasList(raw) { // an empty list may be absent
		return listing{}, &site.Stop{Status: stage.Changed, Detail: "YouTube answers with a list of another name"}
	}
	l := listing{Next: page.Next}
	for _, raw := range page.Items {
		var one item
		if json.Unmarshal(raw, &one) == nil { // an odd one costs itself alone
			l.Items = append(l.Items, one)
		}
	}
	return l, nil
}

// channel finds a channel by its handle or its id, and notes its subscribers.
func (a *api) channel(ctx context.Context, handle string) (id, uploads string, err error) {
	found, err := a.channels(ctx, func(ask *yt.ChannelsListCall) *yt.ChannelsListCall {
		if channelForm().MatchString(handle) {
			return ask.Id(handle)
		}
		return ask.ForHandle("@" + strings.TrimLeft(handle, "@"))
	})
	if err != nil {
		return "", "", err
	}
	for _, one := range found.Items {
		if id := one.text(); channelForm().MatchString(id) {
			a.note(id, one.Statistics)
			return id, string(one.Details.Playlists.Uploads), nil
		}
	}
	return "", "", &site.Stop{Status: stage.NotFound, Detail: "YouTube knows no channel of that handle"}
}

// shorts takes the Shorts of a channel, the newest first: 3 units for 50.
func (a *api) shorts(ctx context.Context, handle string, h *haul) error {
	id, uploads, err := a.channel(ctx, handle)
	if err != nil {
		return err
	}
	err = a.playlist(ctx, "UUSH"+strings.TrimPrefix(id, "UC"), byList, h)
	if !errors.Is(err, errPlaylist) {
		return err
	}
	// The list is there for channels with Shorts, by a convention that is written
	// down nowhere. Without it, their length decides.
	if uploads == "" && a.channelParts.Short() != nil {
		uploads = "UU" + strings.TrimPrefix(id, "UC")
	}
	if uploads == "" {
		return nil
	}
	if err = a.playlist(ctx, uploads, byLength, h); errors.Is(err, errPlaylist) {
		return nil
	}
	return err
}

func (a *api) playlist(ctx context.Context, id, basis string, h *haul) error {
	next := ""
	for range maxPages {
		ask := a.service.PlaylistItems.List([]string{"contentDetails"}).Context(ctx).PlaylistId(id).MaxResults(perPage)
		if next != "" {
			ask = ask.PageToken(next)
		}
		page, err := a.list(ctx, unitQuota, func() error { _, err := ask.Do(); return err })
		if err != nil {
			return err
		}
		if err := a.videos(ctx, page, basis, h); err != nil {
			return err
		}
		if next = string(page.Next); next == "" || h.full() {
			return nil
		}
	}
	return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("there are more than the %d pages that are read", maxPages)}
}

// search takes Shorts that are found for a term. A search is dear, so that only as
// many pages are asked for as the limit needs; it repeats itself, and may find less.
func (a *api) search(ctx context.Context, term string, h *haul) error {
	next := ""
	since := ""
	if a.days > 0 {
		since = a.site.Now().AddDate(0, 0, -a.days).UTC().Format(time.RFC3339)
	}
	for range min(maxPages, (h.limit+perPage-1)/perPage) {
		ask := a.service.Search.List([]string{"id"}).Context(ctx).Type("video").VideoDuration("short").
			Order(a.call.Settings["order"]).Q(term).MaxResults(perPage)
		if region := a.call.Settings["region"]; region != "" {
			ask = ask.RegionCode(region)
		}
		if language := a.call.Settings["language"]; language != "" {
			ask = ask.RelevanceLanguage(language)
		}
		if since != "" {
			ask = ask.PublishedAfter(since)
		}
		if next != "" {
			ask = ask.PageToken(next)
		}
		page, err := a.list(ctx, searchQuota, func() error { _, err := ask.Do(); return err })
		if err != nil {
			return err
		}
		if err := a.videos(ctx, page, byLength, h); err != nil {
			return err
		}
		if next = string(page.Next); next == "" || h.full() {
			return nil
		}
	}
	return nil
}

// videos takes what a page names, where the seed has not had it, with the followers of
// the channels.
func (a *api) videos(ctx context.Context, page listing, basis string, h *haul) error {
	var ids []string
	asked := map[string]bool{}
	for _, one := range page.Items {
		if id := one.video(); id != "" && !h.seen[id] && !asked[id] {
			asked[id] = true
			ids = append(ids, id)
		}
	}
	var records []stage.Record
	err := a.look(ctx, ids, &h.unread, func(record stage.Record) error {
		if h.full() || h.seen[record.ExternalID] || !asked[record.ExternalID] {
			return nil
		}
		if basis == byLength && !isShort(record) {
			return nil
		}
		h.seen[record.ExternalID] = true
		// The address of a Short says that it is one, which its length alone does not.
		record.SourceURL = "https://www.youtube.com/watch?v=" + record.ExternalID
		if basis == byList {
			record.SourceURL = "https://www.youtube.com/shorts/" + record.ExternalID
		}
		record.Metadata = with(record.Metadata, "formatBasis", basis)
		records = append(records, record)
		return nil
	})
	if err == nil {
		err = a.learn(ctx, records, h)
	}
	for _, record := range records {
		record.Metrics.Followers = a.followers[record.CreatorID]
		if failed := h.take(record); failed != nil {
			return failed
		}
	}
	return err
}

// look reads videos by their ids, at most perPage of them.
func (a *api) look(ctx context.Context, ids []string, unread *int, take func(stage.Record) error) error {
	if len(ids) == 0 {
		return nil
	}
	var raw []byte
	err := a.videoParts.Ask(func(parts []string) error {
		ask := a.service.Videos.List(parts).Context(ctx).Id(ids...)
		got, err := a.get(ctx, unitQuota, func() error { _, err := ask.Do(); return err })
		if err == nil {
			raw = got
		}
		return err
	})
	if err != nil {
		return err
	}
	if page, err := listed(raw); err != nil || len(page.Items) == 0 {
		return err
	}
	now := a.site.Now().UnixMilli()
	options := formats.Options{Format: formats.YouTube, Now: now, ObservedAt: &now, LineLimit: site.Body}
	report, err := formats.ReadStream(ctx, bytes.NewReader(raw), platform, options, take)
	*unread += report.Skipped()
	return err
}

// isShort goes by the length alone. A live stream has a length of 0.
func isShort(record stage.Record) bool {
	var about struct {
		Seconds float64 `json:"durationSeconds"`
	}
	err := json.Unmarshal(record.Metadata, &about)
	return err == nil && about.Seconds > 0 && about.Seconds <= longest
}

// with adds a member to an object, whose other bytes stay.
func with(object json.RawMessage, name, value string) json.RawMessage {
	member := fmt.Sprintf("%q:%q", name, value)
	body, ok := bytes.CutSuffix(bytes.TrimSpace(object), []byte("}"))
	if !ok || bytes.Equal(bytes.TrimSpace(body), []byte("{")) {
		return json.RawMessage("{" + member + "}")
	}
	return json.RawMessage(string(body) + "," + member + "}")
}
