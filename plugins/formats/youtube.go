package formats

import "strings"

// fitsYouTube takes items of an answer of videos.list, search.list or playlistItems.list.
func fitsYouTube(o *object) bool {
	return o.has("kind", "id") && o.any("snippet", "statistics", "contentDetails", "etag")
}

func readYouTube(d *draft, o *object) error {
	id, snippet := text(""), o.sub("snippet")
	title, description, maker := snippet.text("title"), snippet.text("description"), snippet.text("channelTitle")
	channel, posted := snippet.text("channelId"), snippet.text("publishedAt")
	switch o.text("kind") {
	case "youtube#video":
		id = o.text("id")
	case "youtube#searchResult":
		if kind := o.text("id.kind"); kind != "youtube#video" && kind != "" {
			return skipped(NotVideo, "a channel or a playlist")
		}
		id = o.text("id.videoId")
		// Search alone writes its texts for web pages.
		title, description, maker = unescaped(title), unescaped(description), unescaped(maker)
	case "youtube#playlistItem":
		id = text(o.first("contentDetails.videoId snippet.resourceId.videoId"))
		if o.text("status.privacyStatus") == "private" || title == "Private video" || title == "Deleted video" {
			return skipped(Unavailable, "a video that is private or deleted")
		}
		// The item's own time and channel are those of the list, not of the video.
		posted, maker = o.text("contentDetails.videoPublishedAt"), snippet.text("videoOwnerChannelTitle")
		if owner := snippet.text("videoOwnerChannelId"); owner != "" || !uploads(snippet.text("playlistId"), channel) {
			channel = owner
		}
	default:
		return skipped(NotVideo, "no video of YouTube")
	}
	if snippet.text("liveBroadcastContent") == "upcoming" {
		return skipped(Unavailable, "not published yet: a premiere or a stream that is announced")
	}
	if err := d.ref("youtube", id); err != nil {
		return err
	}
	d.rec.CreatorID = string(channel)
	d.handle(string(maker))
	d.posted(posted)
	d.rec.Metrics.Views, d.rec.Metrics.Likes = d.count(o.number("statistics.viewCount")), d.count(o.number("statistics.likeCount"))
	d.rec.Metrics.Comments = d.count(o.number("statistics.commentCount"))
	if snippet.text("liveBroadcastContent") == "live" { // it is not over, as in other forms
		d.rec.Metrics.Views, d.left = nil, true
	}
	if d.rec.Metrics.Views != nil {
		d.rec.Metrics.Semantics = "exact"
	}
	length, known := parseDuration(string(o.text("contentDetails.duration")), "")
	if known {
		d.rec.SourceURL = youtubeURL(d.rec.ExternalID, length)
	}
	d.caption(title, Hashtags(string(title+"\n"+description)))
	d.meta.text("description", string(description))
	d.length(length)
	d.meta.text("language", snippet.first("defaultAudioLanguage defaultLanguage"))
	d.meta.text("channel", string(maker))
	return nil
}

// uploads reports whether a playlist is one of those that YouTube keeps of a
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
