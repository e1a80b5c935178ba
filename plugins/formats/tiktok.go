package formats

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Items of TikTok's own pages.

func fitsTikTokWeb(o *object) bool {
	return o.has("id", "createTime") && (o.kind("stats") == '{' || o.kind("statsV2") == '{') || o.has("id", "createTime", "desc", "author")
}

func readTikTokWeb(d *draft, o *object) error {
	if o.kind("imagePost") == '{' {
		return skipped(NotVideo, "a post of photos")
	}
	if err := d.ref("tiktok", o.text("id")); err != nil {
		return err
	}
	d.fill(o, layout{
		// The author is an object in what the pages load, and a name in what they bring along.
		handle: "author.uniqueId author", creator: "author.id authorId", posted: "createTime",
		// The newer counts first: the older ones are cut at 2^31.
		views: "statsV2.playCount stats.playCount", likes: "statsV2.diggCount stats.diggCount", comments: "statsV2.commentCount stats.commentCount",
		shares: "statsV2.shareCount stats.shareCount", saves: "statsV2.collectCount stats.collectCount",
		followers: "authorStatsV2.followerCount authorStats.followerCount",
		caption:   "desc", tags: "challenges:title textExtra:hashtagName",
		soundID: "music.id", soundTitle: "music.title", soundMaker: "music.authorName",
		duration: "video.duration", language: "textLanguage", region: "locationCreated", ad: "isAd",
	})
	for _, sticker := range o.objects("stickersOnItem") {
		if printed := strings.TrimSpace(strings.Join(sticker.list("stickerText"), " ")); printed != "" {
			d.rec.Stickers = append(d.rec.Stickers, stage.Sticker{Text: printed})
		}
	}
	return nil
}

// Posts as drawrowfly's tiktok-scraper writes them, and the hosted scrapers that
// took its form over and added to it.

func fitsTikTokScraper(o *object) bool {
	return o.has("id") && (o.kind("authorMeta") == '{' || o.has("webVideoUrl") || o.has("playCount", "diggCount") && o.any("videoMeta", "musicMeta", "authorMeta.name")) ||
		o.has("webVideoUrl") && o.any("playCount", "diggCount", "authorMeta", "authorMeta.name")
}

func readTikTokScraper(d *draft, o *object) error {
	if o.flag("isSlideshow") {
		return skipped(NotVideo, "a post of photos")
	}
	// An overview has no id but that in the address.
	page := readLink(string(o.text("webVideoUrl")))
	if page.kind == photoLink {
		return skipped(NotVideo, "a post of photos")
	}
	if err := d.ref("tiktok", text(first(o.text("id"), text(page.id)))); err != nil {
		return err
	}
	d.fill(o, layout{
		address: "webVideoUrl", handle: "authorMeta.name", creator: "authorMeta.id", posted: "createTime createTimeISO",
		views: "playCount", likes: "diggCount", comments: "commentCount", shares: "shareCount", saves: "collectCount", followers: "authorMeta.fans",
		caption: "text", tags: "hashtags:name", soundID: "musicMeta.musicId", soundTitle: "musicMeta.musicName", soundMaker: "musicMeta.musicAuthor",
		duration: "videoMeta.duration", language: "textLanguage", ad: "isAd",
	})
	return nil
}

// Posts of the scrapers that write `bookmarks`, which are saves.

func fitsTikTokPosts(o *object) bool {
	return o.has("id") && o.kind("channel") == '{' && o.any("bookmarks", "postPage", "uploadedAt")
}

func readTikTokPosts(d *draft, o *object) error {
	if err := d.ref("tiktok", o.text("id")); err != nil {
		return err
	}
	if song := o.sub("song"); song.kind("id") == '0' && song.number("id").bad {
		// Programs in JavaScript round a number from 2^53 on, and a rounded id is another's.
		song.members["id"] = jsontext.Value("null")
	}
	d.fill(o, layout{
		address: "postPage", handle: "channel.username", creator: "channel.id", posted: "uploadedAt uploadedAtFormatted",
		views: "views", likes: "likes", comments: "comments", shares: "shares", saves: "bookmarks", followers: "channel.followers",
		caption: "title", tags: "hashtags", soundID: "song.id", soundTitle: "song.title", soundMaker: "song.artist",
		duration: "video.duration",
	})
	return nil
}

// Answers of the TikTok Research API. Their ids are JSON numbers above 2^53; text
// takes them digit by digit.

func fitsTikTokResearch(o *object) bool {
	return o.any("id", "video_id") && o.has("create_time") && o.any("video_description", "voice_to_text", "region_code", "hashtag_names") && !o.has("extractor")
}

func readTikTokResearch(d *draft, o *object) error {
	if err := d.ref("tiktok", text(o.first("id video_id"))); err != nil {
		return err
	}
	if spoken := string(o.text("voice_to_text")); spoken != "" {
		d.rec.Evidence = &stage.Evidence{Spoken: &spoken}
	}
	d.fill(o, layout{
		handle: "username", posted: "create_time",
		views: "view_count", likes: "like_count", comments: "comment_count", shares: "share_count", saves: "favourites_count favorites_count",
		strict: true, semantics: "lagged",
		caption: "video_description", tags: "hashtag_names", soundID: "music_id", duration: "video_duration", region: "region_code",
	})
	return nil
}

// Answers of TikTok's Display API, about videos of the account that asks.

func fitsTikTokDisplay(o *object) bool {
	return o.has("id", "create_time") && o.any("cover_image_url", "embed_link", "embed_html", "share_url") && !o.has("extractor")
}

func readTikTokDisplay(d *draft, o *object) error {
	if err := d.ref("tiktok", o.text("id")); err != nil {
		return err
	}
	l := layout{
		address: "share_url", posted: "create_time", views: "view_count", likes: "like_count", comments: "comment_count", shares: "share_count",
		caption: "video_description", duration: "duration",
	}
	if o.text("video_description") == "" {
		l.caption = "title"
	}
	d.fill(o, l)
	d.handle(readLink(d.rec.SourceURL).handle)
	return nil
}

// Items of TikTok's app.

func fitsTikTokApp(o *object) bool {
	return o.has("aweme_id") && (o.kind("statistics") == '{' || o.has("desc", "create_time")) && !o.has("play_count", "digg_count")
}

func readTikTokApp(d *draft, o *object) error {
	if o.kind("image_post_info") == '{' || len(o.values("images")) > 0 {
		return skipped(NotVideo, "a post of photos")
	}
	page := string(o.text("share_url"))
	l := layout{
		address: "share_url", handle: "author.unique_id", creator: "author.uid", posted: "create_time",
		views: "statistics.play_count", likes: "statistics.digg_count", comments: "statistics.comment_count", shares: "statistics.share_count", saves: "statistics.collect_count",
		followers: "author.follower_count", caption: "desc", tags: "text_extra:hashtag_name", soundID: "music.id_str music.mid", soundTitle: "music.title", soundMaker: "music.author",
		millis: "video.duration", language: "desc_language", region: "region", ad: "is_ads",
	}
	platform := "tiktok"
	if strings.Contains(page, "douyin.com") {
		platform = "douyin"
		l.views = "" // always 0
	}
	if err := d.ref(platform, o.text("aweme_id")); err != nil {
		return err
	}
	if named := readLink(page); named.id != "" && named.id != d.rec.ExternalID {
		l.address = ""
	}
	d.fill(o, l)
	return nil
}

// Answers of tikwm.

func fitsTikwm(o *object) bool {
	return o.any("video_id", "aweme_id", "id") && o.has("play_count", "digg_count") && o.any("wmplay", "play", "music_info", "origin_cover", "images")
}

func readTikwm(d *draft, o *object) error {
	if len(o.values("images")) > 0 {
		return skipped(NotVideo, "a post of photos")
	}
	id := o.text("id")
	for _, name := range []string{"video_id", "aweme_id"} {
		if found := o.text(name); allDigits(string(found)) {
			id = found
			break
		}
	}
	if err := d.ref("tiktok", id); err != nil {
		return err
	}
	d.fill(o, layout{
		handle: "author.unique_id", creator: "author.id", posted: "create_time",
		views: "play_count", likes: "digg_count", comments: "comment_count", shares: "share_count", saves: "collect_count",
		caption: "title", soundID: "music_info.id", soundTitle: "music_info.title", soundMaker: "music_info.author",
		duration: "duration", region: "region", ad: "is_ad",
	})
	return nil
}
