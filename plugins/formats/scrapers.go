package formats

import (
	"cmp"
	"strings"
)

// Posts as Bright Data delivers them, of three platforms.

func fitsBrightData(o *object) bool {
	return o.any("url", "post_id", "shortcode") && (o.has("user_posted", "date_posted") || o.has("post_id", "profile_username") && o.any("play_count", "digg_count") ||
		o.has("video_id", "date_posted") && o.any("youtuber", "video_length", "num_comments"))
}

func readBrightData(d *draft, o *object) error {
	page := readLink(string(o.text("url")))
	if kind := first(o.text("content_type"), o.text("post_type")); notVideoKind(kind) || page.kind == photoLink {
		return skipped(NotVideo, "a post of the kind %.30q", kind)
	}
	l := layout{
		address: "url", caption: "description", followers: "followers profile_followers subscribers", tags: "hashtags", posted: "date_posted create_time",
		views: "video_play_count views", likes: "likes digg_count", comments: "num_comments comment_count", shares: "share_count", saves: "collect_count",
	}
	var platform string
	id := first(text(page.id), o.text("shortcode"), o.text("post_id"))
	switch {
	case o.has("user_posted"):
		platform, l.handle, l.creator, l.duration, l.mediaType = "instagram", "user_posted", "user_posted_id", "length", "product_type"
		l.views = "video_play_count video_view_count views"
	case o.has("profile_username"):
		platform, id = "tiktok", o.first("post_id")
		l.handle, l.creator, l.duration, l.views = "account_id profile_username", "profile_id", "video_duration", "play_count"
	default:
		platform, id = "youtube", o.first("video_id")
		l.handle, l.creator, l.duration, l.caption = "youtuber handle_name", "youtuber_id channel_id", "video_length", "title"
	}
	if err := d.ref(platform, text(id)); err != nil {
		return err
	}
	d.fill(o, l)
	channel := readLink(string(o.text("channel_url")))
	if known := cmp.Or(page.handle, channel.handle); known != "" && !handleForm(o.first(l.handle)) { // the name that is shown
		d.handle(known)
	}
	d.rec.Metrics.ObservedAt = instant(o.first("timestamp"))
	return nil
}

// Videos as the hosted YouTube scrapers write them.

func fitsYouTubeScraper(o *object) bool {
	return o.has("id", "url") && o.kind("viewCount") != 0 && o.any("channelUrl", "channelName", "channelId", "numberOfSubscribers")
}

func readYouTubeScraper(d *draft, o *object) error {
	id := string(o.text("id"))
	if !youtubeID(id) {
		id = readLink(string(o.text("url"))).id
	}
	if kind := foldName(string(o.text("type"))); kind == "channel" || kind == "playlist" {
		return skipped(NotVideo, "a channel or a playlist")
	}
	if err := d.ref("youtube", text(id)); err != nil {
		return err
	}
	d.fill(o, layout{
		address: "url", handle: "channelUsername channelName", creator: "channelId", posted: "date", followers: "numberOfSubscribers",
		views: "viewCount", likes: "likes", comments: "commentsCount", caption: "title", tags: "hashtags", duration: "duration", mediaType: "type",
	})
	if strings.EqualFold(string(o.text("liveStatus")), "live") || o.flag("isLive") {
		d.rec.Metrics.Views, d.left = nil, true
	}
	d.meta.text("description", string(o.text("text")))
	return nil
}

// collectAdvice is the way on from addresses without counts.
const collectAdvice = ": it has no counts. Collect the addresses in it with yt-dlp -j, and import what that writes"

// ownArchive says what an archive of an own account is; empty for anything else.
func ownArchive(o *object) string {
	switch {
	case o.kind("Your Activity") == '{', o.kind("Post") == '{' && o.any("Profile", "Comment", "App Settings", "Direct Message"), o.kind("Post") == '{' && o.sub("Post").kind("Posts") == '{',
		o.kind("Activity") == '{' && o.any("Video", "Profile", "App Settings", "Comment", "Tiktok Shopping"), o.kind("Video") == '{' && o.sub("Video").kind("Videos") == '{',
		o.sub("Activity").any("Video Browsing History", "Like List", "Favorite Videos", "Follower List", "Following List"), o.kind("Watch History") == '{', o.kind("Profile And Settings") == '{':
		return "TikTok's data download of an own account" + collectAdvice
	case o.has("header", "title", "time") && (o.has("titleUrl") || strings.HasPrefix(string(o.text("header")), "YouTube")):
		return "the watch or search history of YouTube, from Google Takeout" + collectAdvice
	case o.any("ig_reels_media", "ig_stories", "ig_archived_post_media", "ig_igtv_media", "ig_profile_picture", "string_map_data", "string_list_data", "relationships_following", "likes_media_likes", "saved_saved_media"),
		o.kind("media") == '[' && strings.HasPrefix(string(firstOfList(o).text("uri")), "media/"):
		return "Instagram's data download of an own account" + collectAdvice
	}
	return ""
}

// firstOfList is the first object of the list in the member media.
func firstOfList(o *object) *object {
	if all := o.objects("media"); len(all) > 0 {
		return all[0]
	}
	return o.within(nil)
}

// ownPosts are the posts of an account in TikTok's data download, as far as their addresses
// have ids; most have only that of a file. They have likes, and no other count.
func ownPosts(o *object, now int64) (posts []draft) {
	handle := ""
	for _, group := range []string{"Profile", "Profile And Settings"} {
		for _, part := range []string{"Profile Information", "Profile Info"} {
			handle = first(text(handle), o.sub(group).sub(part).text("ProfileMap.userName"))
		}
	}
	var all []*object
	for _, path := range []string{"Post.Posts.VideoList", "Video.Videos.VideoList"} {
		all = append(all, o.objects(path)...)
	}
	for _, post := range all {
		page := readLink(string(post.text("Link")))
		d := draft{now: now}
		if page.platform != "tiktok" || page.id == "" || d.ref("tiktok", text(page.id)) != nil {
			continue
		}
		d.fill(post, layout{address: "Link", posted: "Date", likes: "Likes", caption: "Title"})
		d.handle(handle)
		posts = append(posts, d)
	}
	return posts
}
