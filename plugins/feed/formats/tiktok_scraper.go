package formats

import "github.com/scrollery/scrollery/plugins/stage"

// tiktokScraper is a post as drawrowfly's tiktok-scraper writes it, and the
// hosted scrapers that took its form over and added to it.
type tiktokScraper struct {
	ID         text `json:"id"`
	Text       text `json:"text"`
	Created    text `json:"createTime"`
	CreatedISO text `json:"createTimeISO"`
	Author     sub[struct {
		ID   text `json:"id"`
		Name text `json:"name"`
	}] `json:"authorMeta"`
	Music sub[struct {
		ID     text `json:"musicId"`
		Name   text `json:"musicName"`
		Author text `json:"musicAuthor"`
	}] `json:"musicMeta"`
	Video sub[struct {
		Duration decimal `json:"duration"`
	}] `json:"videoMeta"`
	Hashtags many[sub[struct {
		Name text `json:"name"`
	}]] `json:"hashtags"`
	URL       text   `json:"webVideoUrl"`
	Language  text   `json:"textLanguage"`
	Plays     number `json:"playCount"`
	Likes     number `json:"diggCount"`
	Comments  number `json:"commentCount"`
	Shares    number `json:"shareCount"`
	Saves     number `json:"collectCount"`
	Ad        flag   `json:"isAd"`
	Slideshow flag   `json:"isSlideshow"`
}

func fitsTikTokScraper(s shape) bool {
	return s.has("id") && (s["authorMeta"] == '{' || s.has("webVideoUrl") || s.has("playCount", "diggCount"))
}

func readTikTokScraper(d *draft, raw []byte) error {
	var v tiktokScraper
	if err := decode(raw, &v); err != nil {
		return err
	}
	if v.Slideshow {
		return skipped(NotVideo, "a post of photos")
	}
	if err := d.ref("tiktok", v.ID); err != nil {
		return err
	}
	d.address(v.URL)
	d.handle(string(v.Author.v.Name))
	d.rec.CreatorID = string(v.Author.v.ID)
	d.posted(v.Created, v.CreatedISO)
	d.rec.Metrics = stage.Metrics{
		Views: d.open(v.Plays), Likes: d.open(v.Likes), Comments: d.open(v.Comments), Shares: d.open(v.Shares), Saves: d.open(v.Saves),
	}
	var tags []string
	for _, tag := range v.Hashtags {
		tags = append(tags, string(tag.v.Name))
	}
	d.caption(v.Text, tags)
	d.sound(v.Music.v.ID, v.Music.v.Name, v.Music.v.Author)
	d.length(v.Video.v.Duration)
	if v.Language != "un" {
		d.meta.text("language", string(v.Language))
	}
	if v.Ad {
		d.meta.raw("isAd", []byte("true"))
	}
	return nil
}
