package formats

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// Videos as YouTube's own pages hold them (ytInitialData): the boxes of search results, of
// channels and of shelves of Shorts, and the details of the player.

// pageKeys are members that boxes of videos have beside videoId.
var pageKeys = []string{"viewCountText", "shortViewCountText", "publishedTimeText", "lengthText", "thumbnailOverlays", "shortBylineText", "longBylineText", "upcomingEventData"}

func fitsYouTubePage(o *object) bool {
	box := func(key string) bool { return o.kind(key) == '{' || o.kind(key) == '[' }
	return o.has("videoId") && (box("title") || box("headline")) && slices.ContainsFunc(pageKeys, box) ||
		o.has("entityId", "overlayMetadata") || o.has("contentId", "contentType") && o.kind("metadata") == '{' ||
		o.has("videoId", "viewCount", "lengthSeconds", "shortDescription") || playerAnswer(o)
}

// playerAnswer reports the whole answer of the player: its details, and the time of the post and the likes beside them.
func playerAnswer(o *object) bool {
	return o.has("videoDetails", "microformat") && o.sub("videoDetails").has("videoId", "shortDescription")
}

func readYouTubePage(d *draft, o *object) error {
	switch {
	case o.has("contentId"):
		return readLockup(d, o)
	case o.has("entityId"):
		return readShortsLockup(d, o)
	case o.has("shortDescription"), playerAnswer(o):
		return readPlayer(d, o)
	}
	if err := d.ref("youtube", o.text("videoId")); err != nil {
		return err
	}
	if o.has("upcomingEventData") {
		return skipped(Unavailable, "not published yet: a premiere or a stream that is announced")
	}
	for _, byline := range []string{"ownerText", "longBylineText", "shortBylineText"} {
		if maker := o.sub(byline).sub("runs").sub("0"); maker.has("text") && d.rec.Source == nil {
			page := maker.sub("navigationEndpoint").sub("browseEndpoint")
			d.rec.CreatorID = string(page.text("browseId"))
			d.handle(first(text(readLink("www.youtube.com"+string(page.text("canonicalBaseUrl"))).handle), maker.text("text")))
			d.meta.text("channel", string(maker.text("text")))
		}
	}
	d.caption(text(shown(o, "title", "headline")), nil)
	if seconds, known := parseDuration(shown(o, "lengthText"), ""); known {
		d.length(seconds)
		d.rec.SourceURL = youtubeURL(d.rec.ExternalID, seconds)
	}
	d.views(shown(o, "viewCountText"), shown(o, "shortViewCountText"))
	return nil
}

// readShortsLockup reads the box of a Short.
func readShortsLockup(d *draft, o *object) error {
	if err := d.ref("youtube", text(strings.TrimPrefix(string(o.text("entityId")), "shorts-shelf-item-"))); err != nil {
		return err
	}
	if !youtubeID(d.rec.ExternalID) {
		if err := d.ref("youtube", o.text("onTap.innertubeCommand.reelWatchEndpoint.videoId")); err != nil {
			return err
		}
	}
	d.rec.SourceURL = youtubeURL(d.rec.ExternalID, 0)
	d.caption(o.text("overlayMetadata.primaryText.content"), nil)
	d.views(string(o.text("overlayMetadata.secondaryText.content")))
	return nil
}

// readLockup reads the newer box of a video or a playlist.
func readLockup(d *draft, o *object) error {
	if kind := string(o.text("contentType")); !strings.HasSuffix(kind, "_VIDEO") && !strings.HasSuffix(kind, "_SHORTS") {
		return skipped(NotVideo, "no video of YouTube")
	}
	if err := d.ref("youtube", o.text("contentId")); err != nil {
		return err
	}
	inner := o.sub("metadata").sub("lockupMetadataViewModel")
	d.caption(inner.text("title.content"), nil)
	for i, row := range inner.sub("metadata").sub("contentMetadataViewModel").objects("metadataRows") {
		for _, part := range row.objects("metadataParts") {
			text := string(part.text("text.content"))
			if i == 0 && strings.IndexFunc(text, isDigit) < 0 {
				d.handle(text)
			}
			if d.rec.Metrics.Views == nil {
				d.views(text)
			}
		}
	}
	return nil
}

// readPlayer reads the details that a page of one video has.
func readPlayer(d *draft, o *object) error {
	more := o.sub("microformat").sub("playerMicroformatRenderer")
	if o.has("videoDetails") {
		o = o.sub("videoDetails")
	}
	if err := d.ref("youtube", o.text("videoId")); err != nil {
		return err
	}
	d.fill(o, layout{handle: "author", creator: "channelId", views: "viewCount", caption: "title", duration: "lengthSeconds"})
	if id := more.text("externalVideoId"); id == "" || id == o.text("videoId") {
		d.posted(more.text("publishDate"), more.text("uploadDate"))
		d.rec.Metrics.Likes = d.shown(more, "likeCount", false)
	}
	if o.flag("isLive") || o.flag("isUpcoming") {
		d.rec.Metrics.Views, d.left = nil, true
	}
	d.meta.text("description", string(o.text("shortDescription")))
	return nil
}

// shown is the text of the first of some members: a plain one, or runs of it.
func shown(o *object, members ...string) string {
	for _, member := range members {
		inner := o.sub(member)
		if plain := first(inner.text("simpleText"), inner.text("content")); plain != "" {
			return plain
		}
		var text strings.Builder
		for _, run := range inner.objects("runs") {
			text.WriteString(string(run.text("text")))
		}
		if text.Len() > 0 {
			return text.String()
		}
	}
	return ""
}

// wholeCount is a count in full with words around it; its signs divide thousands.
var wholeCount = lazy.Pattern(`^(\D*?)(\d{1,3}(?:[., '](?:\d{3}|\d{2}))*|\d+)\s*(\D*)$`)

// views reads the first of some texts that is a count of views by its words: how many are watching
// or waiting is none. Counts in full have signs between thousands alone; a short one may have a
// decimal sign.
func (d *draft) views(texts ...string) {
	for _, shown := range texts {
		shown = plainDigits(strings.TrimSpace(shown))
		style := numberStyle{words: d.words().count, languages: map[string]bool{}}
		for _, word := range nameTokens(shown) {
			for _, language := range d.words().means[word].languages {
				style.languages[language] = true
			}
		}
		parts := wholeCount().FindStringSubmatch(shown)
		if parts == nil || strings.TrimSpace(parts[1]+parts[3]) == "" {
			parts = []string{"", "", "", "-"}
		}
		if _, factor := style.unitAt(strings.TrimSpace(parts[3])); factor == 0 && style.follows(parts[1]) && parts[2] != "" && style.follows(parts[3]) {
			digits := strings.NewReplacer(".", "", ",", "", " ", "", "'", "").Replace(parts[2])
			d.rec.Metrics.Views, d.rec.Metrics.Semantics = d.count(parseNumber(digits)), "exact"
			return
		}
		if c := style.count(shown); c.value != nil && c.rounded {
			d.rec.Metrics.Views, d.rec.Metrics.Semantics = c.value, "rounded"
			return
		}
	}
}
