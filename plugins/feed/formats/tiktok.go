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
	return o.has("id") && (o.kind("authorMeta") == '{' || o.has("webVideoUrl") || o.has("playCount", "diggCount"))
}

func readTikTokScraper(d *draft, o *object) error {
	if o.flag("isSlideshow") {
		return skipped(NotVideo, "a post of photos")
	}
	if err := d.ref("tiktok", o.text("id")); err != nil {
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
	return o.has("id", "create_time") && o.any("video_description", "voice_to_text", "region_code", "hashtag_names") && !o.has("extractor")
}

func readTikTokResearch(d *draft, o *object) error {
	if err := d.ref("tiktok", o.text("id")); err != nil {
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
