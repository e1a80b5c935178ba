package formats

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// info is what is read of yt-dlp's info JSON, of a video or a flat playlist entry.
type info struct {
	Type         text   `json:"_type"`
	ID           text   `json:"id"`
	Extractor    text   `json:"extractor"`
	ExtractorKey text   `json:"extractor_key"`
	IEKey        text   `json:"ie_key"`
	WebpageURL   text   `json:"webpage_url"`
	OriginalURL  text   `json:"original_url"`
	URL          text   `json:"url"`
	Title        text   `json:"title"`
	Description  text   `json:"description"`
	Timestamp    number `json:"timestamp"`
	ReleaseTime  number `json:"release_timestamp"`
	UploadDate   text   `json:"upload_date"`
	Epoch        number `json:"epoch"`
	// Duration may have a fraction.
	Duration jsontext.Value `json:"duration"`

	Uploader          text `json:"uploader"`
	UploaderID        text `json:"uploader_id"`
	Channel           text `json:"channel"`
	ChannelID         text `json:"channel_id"`
	PlaylistID        text `json:"playlist_id"`
	PlaylistUploader  text `json:"playlist_uploader_id"`
	PlaylistChannelID text `json:"playlist_channel_id"`

	Views    number `json:"view_count"`
	Likes    number `json:"like_count"`
	Comments number `json:"comment_count"`
	Reposts  number `json:"repost_count"`
	Saves    number `json:"save_count"`

	Followers number `json:"channel_follower_count"`

	Track     text `json:"track"`
	TrackID   text `json:"track_id"`
	Artist    text `json:"artist"`
	Language  text `json:"language"`
	MediaType text `json:"media_type"`
	// LiveStatus is is_live, is_upcoming, was_live, post_live or not_live. Older versions have the flags alone.
	LiveStatus text           `json:"live_status"`
	IsLive     jsontext.Value `json:"is_live"`
	IsUpcoming jsontext.Value `json:"is_upcoming"`
}

func fitsYTDLP(o *object) bool {
	return o.has("id") && o.any("extractor", "extractor_key", "ie_key", "_type") || o.has("id", "webpage_url", "title")
}

func readYTDLP(d *draft, o *object) error {
	var found info
	if err := jsonx.Unmarshal(o.raw, &found, lenient); err != nil {
		return err
	}
	switch {
	case found.collects():
		return skipped(NotVideo, "a playlist or a channel")
	case strings.HasSuffix(strings.ToLower(first(found.IEKey, found.ExtractorKey, found.Extractor)), "story"), strings.Contains(string(found.WebpageURL), "instagram.com/stories/"):
		return skipped(NotVideo, "a story")
	case readLink(string(found.WebpageURL)).kind == photoLink:
		return skipped(NotVideo, "an address of photos, a story or a page")
	case found.partOfAlbum(d.scope.list):
		return skipped(NotVideo, "a part of an Instagram post with several")
	case found.Title == "[Private video]" || found.Title == "[Deleted video]":
		return skipped(Unavailable, "a video that is private or deleted")
	}
	if d.scope.list != nil {
		found.inherit(d.scope.list)
	}
	switch {
	case found.LiveStatus != "":
	case found.IsLive.Kind() == 't':
		found.LiveStatus = "is_live"
	case found.IsUpcoming.Kind() == 't':
		found.LiveStatus = "is_upcoming"
	}
	if found.LiveStatus == "is_upcoming" {
		return skipped(Unavailable, "not published yet: a premiere or a stream that is announced")
	}
	if found.platform() == "" {
		return skipped(UnknownForm, "an object in no known format")
	}
	var err error
	if d.rec, d.doubtful, err = found.record(); d.doubtful > 0 {
		d.reshow(o, found.LiveStatus == "is_live")
	}
	d.left = found.LiveStatus == "is_live"
	return err
}

// collects reports a playlist, or the entry of one, as against a video.
func (v *info) collects() bool {
	if v.Type == "playlist" || v.Type == "multi_video" {
		return true
	}
	key := strings.ToLower(first(v.IEKey, v.ExtractorKey))
	for _, end := range []string{"tab", "playlist", "user", "search", "tag"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// reshow reads the counts of yt-dlp's members that are written as text, which only other programs do.
func (d *draft) reshow(o *object, live bool) {
	m := &d.rec.Metrics
	counts := []**int64{&m.Views, &m.Likes, &m.Comments, &m.Shares, &m.Saves, &m.Followers}
	for i, path := range []string{"view_count", "like_count", "comment_count", "repost_count", "save_count", "channel_follower_count"} {
		if n := o.number(path); n.bad && !n.hidden && !(live && i == 0) {
			d.doubtful--
			*counts[i] = d.shown(o, path, false)
		}
	}
	if d.rounded {
		m.Semantics = cmp.Or(m.Semantics, "rounded")
	}
}

// partOfAlbum reports one of the videos of an Instagram post: the counts are those of the post, and no
// address leads to the part.
func (v *info) partOfAlbum(list *info) bool {
	if list != nil && strings.EqualFold(first(list.ExtractorKey, list.Extractor), "instagram") {
		return true
	}
	page := readLink(string(v.WebpageURL))
	return page.platform == "instagram" && page.kind == videoLink && page.id == string(v.PlaylistID) && page.id != string(v.ID)
}

// inherit fills what a flat entry leaves to its playlist.
func (v *info) inherit(list *info) {
	for _, pair := range []struct{ own, list *text }{
		{&v.ExtractorKey, &list.ExtractorKey},
		{&v.Uploader, &list.Uploader},
		{&v.UploaderID, &list.UploaderID},
		{&v.Channel, &list.Channel},
		{&v.ChannelID, &list.ChannelID},
	} {
		if *pair.own == "" {
			*pair.own = *pair.list
		}
	}
	if v.Epoch.value == nil {
		v.Epoch = list.Epoch
	}
}

func (v *info) record() (rec stage.Record, doubtful int, err error) {
	rec.Ref = stage.Ref{Platform: v.platform(), ExternalID: string(v.ID)}
	if rec.Platform == "" || !usableID(rec.ExternalID) {
		return rec, 0, errNoVideo
	}
	take := func(n number) *int64 {
		if n.bad {
			doubtful++
		}
		return n.value
	}
	for _, address := range []text{v.WebpageURL, v.OriginalURL, v.URL} {
		if rec.SourceURL == "" {
			rec.SourceURL = webAddress(string(address))
		}
	}
	rec.PostedAt = v.posted()
	rec.CreatorID = first(v.ChannelID, v.PlaylistChannelID)
	handle := first(v.UploaderID, v.PlaylistUploader)
	if rec.Platform == "instagram" && (v.Channel != "" || !handleLike(handle)) { // the uploader is the full name there
		handle, rec.CreatorID = string(v.Channel), first(text(rec.CreatorID), v.UploaderID)
	} else if rec.Platform == "tiktok" || handle == "" || handle == rec.CreatorID || !handleLike(handle) {
		handle = first(v.Uploader, v.Channel, text(handle))
	}
	if handle != "" {
		rec.Source = &stage.Source{Handle: handle}
	}
	rec.Metrics = stage.Metrics{
		Views: take(v.Views), Likes: take(v.Likes), Comments: take(v.Comments), Shares: take(v.Reposts), Saves: take(v.Saves),
		ObservedAt: millis(v.Epoch.value), Followers: take(v.Followers),
	}
	if v.LiveStatus == "is_live" {
		rec.Metrics.Views = nil // how many are watching
	}
	if v.Type == "url" && rec.Platform == "youtube" {
		rec.Metrics.Semantics = "rounded"
	}
	rec.Metadata = v.metadata(rec.Platform)
	return rec, doubtful, nil
}

// handleLike reports a handle, as against the numbers that some extractors give as uploader_id.
func handleLike(s string) bool {
	return strings.Trim(s, "0123456789") != ""
}

func (v *info) platform() string {
	key := strings.ToLower(first(v.ExtractorKey, v.IEKey, v.Extractor))
	for _, name := range platforms.IDs() {
		if strings.HasPrefix(key, name) {
			return name
		}
	}
	for _, address := range []text{v.WebpageURL, v.URL} {
		at, err := url.Parse(string(address))
		if err != nil || at.Host == "" {
			continue
		}
		if name, _ := platforms.OfHost(strings.ToLower(at.Hostname())); name != "" {
			return name
		}
	}
	key, _, _ = strings.Cut(key, ":")
	if key == "generic" {
		return ""
	}
	return platformName(key)
}

func (v *info) posted() *int64 {
	if at := millis(v.Timestamp.value); at != nil {
		return at
	}
	if at := millis(v.ReleaseTime.value); at != nil {
		return at
	}
	if day, err := time.Parse("20060102", string(v.UploadDate)); err == nil && day.UnixMilli() >= 0 {
		at := day.UnixMilli()
		return exactly(stage.Ref{Platform: v.platform(), ExternalID: string(v.ID)}, &at)
	}
	return nil
}

// metadata keeps what the library has names for; formats and addresses of media
// files, which make up most of an info JSON, are left out.
func (v *info) metadata(platform string) json.RawMessage {
	var out properties
	caption := v.Description
	if platform == "youtube" || caption == "" {
		caption = v.Title
	}
	out.text("caption", string(caption))
	if caption != v.Title {
		out.text("title", string(v.Title))
	}
	if caption != v.Description {
		out.text("description", string(v.Description))
	}
	out.list("hashtags", v.hashtags())
	out.text("soundId", string(v.TrackID))
	out.text("soundTitle", string(v.Track))
	out.text("soundArtist", string(v.Artist))
	if v.Duration.Kind() == '0' {
		out.raw("durationSeconds", v.Duration)
	}
	out.text("language", string(v.Language))
	out.text("mediaType", string(v.MediaType))
	if v.Channel != "" {
		out.text("channel", string(v.Channel))
	}
	return out.object()
}

// hashtags are those of the texts; tags of YouTube are search words, not hashtags.
func (v *info) hashtags() []string {
	return Hashtags(string(v.Title + "\n" + v.Description))
}

func millis(seconds *int64) *int64 {
	if seconds == nil || *seconds > most/1000 {
		return nil
	}
	ms := *seconds * 1000
	return &ms
}

func first(texts ...text) string {
	for _, t := range texts {
		if t != "" {
			return string(t)
		}
	}
	return ""
}
