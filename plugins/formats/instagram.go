package formats

import (
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Media objects of the Instagram Graph API.

func fitsInstagramGraph(o *object) bool {
	switch o.text("media_type") { // others write other words there
	case "VIDEO", "IMAGE", "CAROUSEL_ALBUM":
		return o.has("id")
	}
	return o.has("id") && o.kind("media_product_type") == '"'
}

func readInstagramGraph(d *draft, o *object) error {
	product := o.text("media_product_type")
	switch {
	case product == "STORY" || product == "AD":
		return skipped(NotVideo, "a story or an advertisement")
	case o.text("media_type") != "VIDEO" && product != "REELS":
		return skipped(NotVideo, "a photo or an album")
	}
	// The API's own id means something to the asker alone; the shortcode is public.
	code := first(o.text("shortcode"), text(shortcode(string(o.text("permalink")))))
	if code == "" {
		return skipped(NoID, "neither shortcode nor permalink")
	}
	if err := d.ref("instagram", text(code)); err != nil {
		return err
	}
	d.fill(o, layout{
		address: "permalink", handle: "username", creator: "owner.id", posted: "timestamp",
		views: "view_count", likes: "like_count", comments: "comments_count", caption: "caption",
	})
	if o.text("username") == "" {
		d.handle(d.scope.owner)
	}
	insights(&d.rec.Metrics, o)
	if d.scope.business || d.rec.Metrics.Views != nil {
		d.rec.Metrics.Semantics = "paid_and_organic"
	}
	d.meta.text("mediaType", strings.ToLower(string(product)))
	return nil
}

// insights takes the counts that the Graph API gives to the owner of a media.
func insights(m *stage.Metrics, o *object) {
	for _, one := range o.objects("insights.data") {
		var count **int64
		switch one.text("name") {
		case "views", "plays", "video_views":
			count = &m.Views
		case "likes":
			count = &m.Likes
		case "comments":
			count = &m.Comments
		case "shares":
			count = &m.Shares
		case "saved":
			count = &m.Saves
		default:
			continue
		}
		if n := one.number("values.0.value").value; n != nil && (*count == nil || one.text("name") == "views") {
			*count = n
		}
	}
}

// shortcode is the one in the address of a post, a reel or a video of the older kind.
func shortcode(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.Host != "instagram.com" && !strings.HasSuffix(at.Host, ".instagram.com") {
		return ""
	}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if slices.Contains([]string{"p", "reel", "reels", "tv"}, part) {
			return parts[i+1]
		}
	}
	return ""
}

// Posts as Instagram's pages had them for years, and as instaloader keeps them.

func fitsInstagramNode(o *object) bool {
	return o.has("shortcode") && o.any("taken_at_timestamp", "is_video", "edge_media_to_caption", "edge_media_preview_like", "__typename") && !o.has("user_posted")
}

func readInstagramNode(d *draft, o *object) error {
	if !o.flag("is_video") && !strings.HasSuffix(string(o.text("__typename")), "GraphVideo") {
		return skipped(NotVideo, "a photo or an album")
	}
	if err := d.ref("instagram", o.text("shortcode")); err != nil {
		return err
	}
	l := layout{
		handle: "owner.username", creator: "owner.id", posted: "taken_at_timestamp date",
		views: "video_play_count iphone_struct.play_count iphone_struct.ig_play_count video_view_count", likes: "edge_media_preview_like.count edge_liked_by.count",
		comments: "edge_media_to_comment.count edge_media_to_parent_comment.count edge_media_preview_comment.count",
		caption:  "edge_media_to_caption.edges.0.node.text",
		soundID:  "clips_music_attribution_info.audio_id", soundTitle: "clips_music_attribution_info.song_name",
		soundMaker: "clips_music_attribution_info.artist_name", duration: "video_duration", mediaType: "product_type",
	}
	if o.flag("like_and_view_counts_disabled") {
		l.likes = ""
	}
	d.fill(o, l)
	return nil
}

// kindless is said of posts of Instagram in which nothing says that they are videos.
const kindless = "nothing says which posts of Instagram are videos: photos may be among them"

// Posts of the hosted Instagram scrapers.

func fitsInstagramScraper(o *object) bool {
	return o.has("shortCode") || o.has("ownerUsername", "likesCount")
}

func readInstagramScraper(d *draft, o *object) error {
	plain := strings.Contains(string(o.text("url")), "/reel") || !o.any("type", "productType", "images", "childPosts") // a choice of columns without the kind
	if o.text("type") != "Video" && o.text("productType") != "clips" && o.number("videoPlayCount").value == nil && o.number("videoViewCount").value == nil && !plain {
		return skipped(NotVideo, "a photo or an album")
	}
	if err := d.ref("instagram", text(first(o.text("shortCode"), text(shortcode(string(o.text("url"))))))); err != nil {
		return err
	}
	d.kindless = !o.any("type", "productType", "videoPlayCount", "videoViewCount") && !strings.Contains(string(o.text("url")), "/reel")
	d.fill(o, layout{
		address: "url", handle: "ownerUsername", creator: "ownerId", posted: "timestamp publishDate",
		// Plays are what Instagram shows; its older count of views is lower.
		views: "videoPlayCount videoViewCount", likes: "likesCount", comments: "commentsCount", shares: "sharesCount",
		caption: "caption", tags: "hashtags", soundID: "musicInfo.audio_id", soundTitle: "musicInfo.song_name", soundMaker: "musicInfo.artist_name",
		duration: "videoDuration", mediaType: "productType",
	})
	return nil
}

// Items of Instagram's own pages and apps.

func fitsInstagramWeb(o *object) bool {
	if !o.any("code", "pk") || o.has("shortcode") {
		return false
	}
	return o.kind("media_type") == '0' || o.any("product_type", "taken_at", "ig_play_count", "like_and_view_counts_disabled") ||
		o.has("__typename", "user")
}

// mediaVideo is Instagram's number for a video; a photo is 1, an album 8.
const mediaVideo = 2

func readInstagramWeb(d *draft, o *object) error {
	kind, product, typeName := o.number("media_type").value, o.text("product_type"), string(o.text("__typename"))
	switch {
	case kind != nil && *kind != mediaVideo:
		return skipped(NotVideo, "a photo or an album")
	case product == "story" || strings.Contains(typeName, "PhotoMedia") || strings.Contains(typeName, "ImageMedia"):
		return skipped(NotVideo, "a photo or a story")
	case kind == nil && product != "clips" && product != "igtv" && !strings.Contains(typeName, "VideoMedia") && !o.flag("is_video"):
		return skipped(NotVideo, "nothing says that it is a video")
	}
	if err := d.ref("instagram", text(first(o.text("code"), text(codeOf(o.first("pk id")))))); err != nil {
		return err
	}
	l := layout{
		handle: "user.username", creator: "user.pk user.id", posted: "taken_at",
		views: "play_count ig_play_count view_count", likes: "like_count", comments: "comment_count", shares: "share_count", saves: "save_count", caption: "caption.text caption_text",
		soundID:    "clips_metadata.music_info.music_asset_info.audio_cluster_id clips_metadata.original_sound_info.audio_asset_id",
		soundTitle: "clips_metadata.music_info.music_asset_info.title clips_metadata.original_sound_info.original_audio_title",
		soundMaker: "clips_metadata.music_info.music_asset_info.display_artist clips_metadata.original_sound_info.ig_artist.username",
		duration:   "video_duration", mediaType: "product_type",
	}
	if o.text("user.username") == "" {
		l.handle, l.creator = "owner.username", "owner.pk owner.id user.pk user.id"
	}
	if o.flag("like_and_view_counts_disabled") {
		l.likes = "" // the number there is not the count
	}
	d.fill(o, l)
	if product == "ad" {
		d.meta.raw("isAd", []byte("true"))
	}
	return nil
}

// codeOf is the shortcode of Instagram's number of a media: the same number with
// 64 other digits. What follows an underscore is the owner's.
func codeOf(pk string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	pk, _, _ = strings.Cut(pk, "_")
	n, ok := new(big.Int).SetString(pk, 10)
	if !ok || n.Sign() <= 0 || len(pk) > 20 {
		return ""
	}
	var code []byte
	base, digit := big.NewInt(64), new(big.Int)
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		code = append(code, digits[digit.Int64()])
	}
	slices.Reverse(code)
	return string(code)
}
