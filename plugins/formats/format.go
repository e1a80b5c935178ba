package formats

import "strings"

// Format names one form of video.
type Format string

// The formats.
const (
	Own       Format = "scrollery"
	YTDLP     Format = "yt-dlp"
	YouTube   Format = "youtube-api"
	TikTokWeb Format = "tiktok-web"
	// TikTokScraper is the form of drawrowfly's tiktok-scraper, which others took over.
	TikTokScraper Format = "tiktok-scraper"
	// TikTokPosts is the scraper form with `bookmarks`, `channel` and `postPage`.
	TikTokPosts    Format = "tiktok-posts"
	TikTokResearch Format = "tiktok-research"
	InstagramGraph Format = "instagram-graph"
	InstagramWeb   Format = "instagram-web"
	// InstagramNode is the older web form, which instaloader keeps.
	InstagramNode    Format = "instagram-node"
	InstagramScraper Format = "instagram-scraper"
	// TikTokApp is the form of TikTok's app, which several paid APIs pass on.
	TikTokApp Format = "tiktok-app"
	// TikTokDisplay is that of TikTok's Display API.
	TikTokDisplay Format = "tiktok-display"
	// TikTokArchive are the own posts in TikTok's data download.
	TikTokArchive Format = "tiktok-archive"
	Tikwm         Format = "tikwm"
	BrightData    Format = "bright-data"
	// YouTubePage is that of the boxes and details of YouTube's own pages.
	YouTubePage Format = "youtube-page"
	// YouTubeScraper is the form of the hosted YouTube scrapers.
	YouTubeScraper Format = "youtube-scraper"
	Zeeschuimer    Format = "zeeschuimer"
	CSV            Format = "csv"
	// Mapped is flat or nested JSON of any other tool, read by a column map.
	Mapped Format = "mapped"
)

// format reads one form.
type format struct {
	Name Format
	// About says what writes it, in a few words.
	About string
	// fits recognises the form by the members of an object; nil for forms that are recognised otherwise.
	fits func(*object) bool
	read func(d *draft, o *object) error
	// marks are members that objects of this form have, apart by spaces: of several forms
	// that fit, the one with the most of them counts.
	marks string
}

// all are the formats.
func all() []format {
	return []format{
		{Name: Own, About: "the feed's own JSON", fits: fitsOwn, read: readOwn, marks: "platform externalId metrics metadata source evidence"},
		{Name: YouTube, About: "answers of the YouTube Data API", fits: fitsYouTube, read: readYouTube, marks: "kind etag snippet statistics contentDetails"},
		{Name: TikTokResearch, About: "answers of the TikTok Research API", fits: fitsTikTokResearch, read: readTikTokResearch, marks: "id video_id create_time video_description voice_to_text region_code hashtag_names username view_count music_id"},
		{Name: TikTokDisplay, About: "answers of TikTok's Display API", fits: fitsTikTokDisplay, read: readTikTokDisplay, marks: "id create_time video_description cover_image_url share_url embed_html embed_link view_count height width duration title"},
		{Name: TikTokApp, About: "items of TikTok's app, as many APIs pass them on", fits: fitsTikTokApp, read: readTikTokApp, marks: "aweme_id desc create_time author statistics music"},
		{Name: Tikwm, About: "answers of tikwm", fits: fitsTikwm, read: readTikwm, marks: "video_id aweme_id title play wmplay play_count digg_count music_info"},
		{Name: TikTokWeb, About: "items of TikTok's own pages", fits: fitsTikTokWeb, read: readTikTokWeb, marks: "id desc createTime author stats statsV2 video music"},
		{Name: TikTokScraper, About: "TikTok scrapers that write authorMeta and playCount", fits: fitsTikTokScraper, read: readTikTokScraper, marks: "id text createTime createTimeISO authorMeta authorMeta.name webVideoUrl playCount diggCount videoMeta videoMeta.duration"},
		{Name: TikTokPosts, About: "TikTok scrapers that write channel and bookmarks", fits: fitsTikTokPosts, read: readTikTokPosts, marks: "id channel bookmarks postPage uploadedAt song"},
		{Name: BrightData, About: "Bright Data's TikTok, Instagram and YouTube posts", fits: fitsBrightData, read: readBrightData, marks: "url post_id shortcode user_posted date_posted num_comments content_type youtuber video_length profile_username digg_count post_type timestamp discovery_input"},
		{Name: InstagramScraper, About: "Instagram scrapers that write shortCode and videoPlayCount", fits: fitsInstagramScraper, read: readInstagramScraper, marks: "shortCode ownerUsername likesCount commentsCount videoPlayCount type url"},
		{Name: InstagramNode, About: "Instagram's older page items, instaloader", fits: fitsInstagramNode, read: readInstagramNode, marks: "shortcode __typename owner taken_at_timestamp is_video edge_media_to_caption edge_media_preview_like"},
		{Name: InstagramWeb, About: "items of Instagram's own pages", fits: fitsInstagramWeb, read: readInstagramWeb, marks: "code pk media_type taken_at user product_type play_count"},
		{Name: InstagramGraph, About: "answers of the Instagram Graph API", fits: fitsInstagramGraph, read: readInstagramGraph, marks: "id media_type media_product_type permalink timestamp like_count comments_count shortcode"},
		{Name: YouTubeScraper, About: "YouTube scrapers that write viewCount and channelUrl", fits: fitsYouTubeScraper, read: readYouTubeScraper, marks: "id url title viewCount channelName channelUrl channelId numberOfSubscribers commentsCount"},
		{Name: YouTubePage, About: "boxes and details of videos in YouTube's own pages", fits: fitsYouTubePage, read: readYouTubePage, marks: "videoId title viewCountText lengthText entityId overlayMetadata contentId contentType metadata shortDescription lengthSeconds"},
		{Name: YTDLP, About: "yt-dlp: videos, playlists, flat playlists", fits: fitsYTDLP, read: readYTDLP, marks: "id extractor extractor_key ie_key webpage_url uploader_id channel_id view_count upload_date epoch _type live_status"},
		{Name: TikTokArchive, About: "own posts in TikTok's data download, if their addresses have ids"},
		{Name: Zeeschuimer, About: "Zeeschuimer's envelopes of TikTok and Instagram items"},
		{Name: CSV, About: "tables: CSV and Excel, also with a column map"},
		{Name: Mapped, About: "other JSON objects; in a column map, a dot in a column's name leads into an object"},
	}
}

// Formats are the names of the formats, each once, and what writes them.
func Formats() (names []Format, about []string) {
	for _, f := range all() {
		names, about = append(names, f.Name), append(about, f.About)
	}
	return names, about
}

// table is all, made once a reading.
type table []format

// detect is the form that fits an object best; nil without one.
func (t table) detect(o *object) (best *format) {
	most := -1
	for i := range t {
		if t[i].fits == nil || !t[i].fits(o) {
			continue
		}
		if best == nil {
			best = &t[i]
			continue
		}
		if most < 0 {
			most = best.marksOf(o)
		}
		if n := t[i].marksOf(o); n > most {
			best, most = &t[i], n
		}
	}
	return best
}

// marksOf counts the marks that an object has.
func (f *format) marksOf(o *object) (n int) {
	for mark := range strings.FieldsSeq(f.marks) {
		if o.has(mark) {
			n++
		}
	}
	return n
}

// named is the format of a name, where it fits.
func (t table) named(name Format, o *object) *format {
	for i := range t {
		if t[i].Name == name && t[i].fits != nil && t[i].fits(o) {
			return &t[i]
		}
	}
	return nil
}

func (t table) byName(name Format) *format {
	for i := range t {
		if t[i].Name == name {
			return &t[i]
		}
	}
	return nil
}
