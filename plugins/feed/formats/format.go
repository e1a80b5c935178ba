package formats

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
	Zeeschuimer      Format = "zeeschuimer"
	CSV              Format = "csv"
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
	// late says that anything else goes first, as the form has no mark of its own.
	late bool
}

// all are the formats; the first that fits is taken.
func all() []format {
	return []format{
		{Name: Own, About: "the feed's own JSON", fits: fitsOwn, read: readOwn},
		{Name: YouTube, About: "answers of the YouTube Data API", fits: fitsYouTube, read: readYouTube},
		{Name: TikTokResearch, About: "answers of the TikTok Research API", fits: fitsTikTokResearch, read: readTikTokResearch},
		{Name: TikTokWeb, About: "items of TikTok's own pages", fits: fitsTikTokWeb, read: readTikTokWeb},
		{Name: TikTokScraper, About: "TikTok scrapers that write authorMeta and playCount", fits: fitsTikTokScraper, read: readTikTokScraper},
		{Name: TikTokPosts, About: "TikTok scrapers that write channel and bookmarks", fits: fitsTikTokPosts, read: readTikTokPosts},
		{Name: InstagramScraper, About: "Instagram scrapers that write shortCode and videoPlayCount", fits: fitsInstagramScraper, read: readInstagramScraper},
		{Name: InstagramNode, About: "Instagram's older page items, instaloader", fits: fitsInstagramNode, read: readInstagramNode},
		{Name: InstagramWeb, About: "items of Instagram's own pages", fits: fitsInstagramWeb, read: readInstagramWeb},
		{Name: InstagramGraph, About: "answers of the Instagram Graph API", fits: fitsInstagramGraph, read: readInstagramGraph},
		{Name: YTDLP, About: "yt-dlp: videos, playlists, flat playlists", fits: fitsYTDLP, read: readYTDLP},
		{Name: YTDLP, About: "", fits: func(o *object) bool { return o.has("id") }, read: readYTDLP, late: true},
		{Name: Zeeschuimer, About: "Zeeschuimer's envelopes of TikTok and Instagram items"},
		{Name: CSV, About: "CSV with a column map"},
		{Name: Mapped, About: "JSON objects with a column map; a dot in a column's name leads into an object"},
	}
}

// Formats are the names of the formats, each once, and what writes them.
func Formats() (names []Format, about []string) {
	for _, f := range all() {
		if !f.late {
			names, about = append(names, f.Name), append(about, f.About)
		}
	}
	return names, about
}

// table is all, made once a reading.
type table []format

func (t table) detect(o *object) *format {
	for i := range t {
		if t[i].fits != nil && t[i].fits(o) {
			return &t[i]
		}
	}
	return nil
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
