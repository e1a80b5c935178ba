package formats

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// youtube is an item of an answer of videos.list, search.list or playlistItems.list.
type youtube struct {
	Kind    text           `json:"kind"`
	ID      jsontext.Value `json:"id"`
	Snippet sub[struct {
		PublishedAt  text `json:"publishedAt"`
		ChannelID    text `json:"channelId"`
		ChannelTitle text `json:"channelTitle"`
		Title        text `json:"title"`
		Description  text `json:"description"`
		Language     text `json:"defaultAudioLanguage"`
		TextLanguage text `json:"defaultLanguage"`
		PlaylistID   text `json:"playlistId"`
		Owner        text `json:"videoOwnerChannelId"`
		OwnerTitle   text `json:"videoOwnerChannelTitle"`
		Resource     sub[struct {
			Kind    text `json:"kind"`
			VideoID text `json:"videoId"`
		}] `json:"resourceId"`
	}] `json:"snippet"`
	Details sub[struct {
		Duration    text `json:"duration"`
		VideoID     text `json:"videoId"`
		PublishedAt text `json:"videoPublishedAt"`
	}] `json:"contentDetails"`
	Status sub[struct {
		Privacy text `json:"privacyStatus"`
	}] `json:"status"`
	Statistics sub[struct {
		Views    number `json:"viewCount"`
		Likes    number `json:"likeCount"`
		Comments number `json:"commentCount"`
	}] `json:"statistics"`
}

func fitsYouTube(s shape) bool {
	return s.has("kind", "id") && s.any("snippet", "statistics", "contentDetails", "etag")
}

func readYouTube(d *draft, raw []byte) error {
	var v youtube
	if err := decode(raw, &v); err != nil {
		return err
	}
	snippet, id, channel, posted := &v.Snippet.v, text(""), v.Snippet.v.ChannelID, v.Snippet.v.PublishedAt
	switch v.Kind {
	case "youtube#video":
		if err := decode(v.ID, &id); err != nil {
			return err
		}
	case "youtube#searchResult":
		var found sub[struct {
			Kind    text `json:"kind"`
			VideoID text `json:"videoId"`
		}]
		if err := decode(v.ID, &found); err != nil {
			return err
		}
		if found.v.Kind != "youtube#video" && found.v.Kind != "" {
			return skipped(NotVideo, "a channel or a playlist")
		}
		id = found.v.VideoID
		// Search alone writes its texts for web pages.
		snippet.Title, snippet.Description = unescaped(snippet.Title), unescaped(snippet.Description)
		snippet.ChannelTitle = unescaped(snippet.ChannelTitle)
	case "youtube#playlistItem":
		id = text(first(v.Details.v.VideoID, snippet.Resource.v.VideoID))
		if v.Status.v.Privacy == "private" || snippet.Title == "Private video" || snippet.Title == "Deleted video" {
			return skipped(Unavailable, "a video that is private or deleted")
		}
		// The item's own time and channel are those of the list, not of the video.
		posted, snippet.ChannelTitle = v.Details.v.PublishedAt, snippet.OwnerTitle
		if channel = snippet.Owner; channel == "" && uploads(snippet.PlaylistID, snippet.ChannelID) {
			channel = snippet.ChannelID
		}
	default:
		return skipped(NotVideo, "no video of YouTube")
	}
	if err := d.ref("youtube", id); err != nil {
		return err
	}
	d.rec.CreatorID = string(channel)
	d.handle(string(snippet.ChannelTitle))
	d.posted(posted)
	counts := v.Statistics.v
	d.rec.Metrics.Views, d.rec.Metrics.Likes, d.rec.Metrics.Comments = d.count(counts.Views), d.count(counts.Likes), d.count(counts.Comments)
	if d.rec.Metrics.Views != nil {
		d.rec.Metrics.Semantics = "exact"
	}
	length, known := parseDuration(string(v.Details.v.Duration), "")
	if known {
		d.rec.SourceURL = youtubeURL(d.rec.ExternalID, length)
	}
	d.caption(snippet.Title, Hashtags(string(snippet.Title+"\n"+snippet.Description)))
	d.meta.text("description", string(snippet.Description))
	d.length(decimal(length))
	d.meta.text("language", first(snippet.Language, snippet.TextLanguage))
	d.meta.text("channel", string(snippet.ChannelTitle))
	return nil
}

// uploads tells whether a playlist is one of those that YouTube keeps of a
// channel's own videos: UU…, UUSH…, UULF….
func uploads(playlist, channel text) bool {
	own, ok := strings.CutPrefix(string(channel), "UC")
	return ok && own != "" && strings.HasPrefix(string(playlist), "UU") && strings.HasSuffix(string(playlist), own)
}

// longestShort is how long a Short may be, in seconds.
const longestShort = 180

func youtubeURL(id string, seconds float64) string {
	if seconds > longestShort {
		return "https://www.youtube.com/watch?v=" + id
	}
	return "https://www.youtube.com/shorts/" + id
}
