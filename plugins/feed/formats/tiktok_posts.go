package formats

import "github.com/scrollery/scrollery/plugins/stage"

// tiktokPost is a post of the scrapers that write `bookmarks`, which are saves.
type tiktokPost struct {
	ID       text       `json:"id"`
	Title    text       `json:"title"`
	Page     text       `json:"postPage"`
	Hashtags many[text] `json:"hashtags"`
	Channel  sub[struct {
		ID       text `json:"id"`
		Username text `json:"username"`
	}] `json:"channel"`
	Uploaded    text `json:"uploadedAt"`
	UploadedISO text `json:"uploadedAtFormatted"`
	Video       sub[struct {
		Duration decimal `json:"duration"`
	}] `json:"video"`
	Song sub[struct {
		ID     rounding `json:"id"`
		Title  text     `json:"title"`
		Artist text     `json:"artist"`
	}] `json:"song"`
	Views     number `json:"views"`
	Likes     number `json:"likes"`
	Comments  number `json:"comments"`
	Shares    number `json:"shares"`
	Bookmarks number `json:"bookmarks"`
}

func fitsTikTokPosts(s shape) bool {
	return s.has("id") && s["channel"] == '{' && s.any("bookmarks", "postPage", "uploadedAt")
}

func readTikTokPosts(d *draft, raw []byte) error {
	var v tiktokPost
	if err := decode(raw, &v); err != nil {
		return err
	}
	if err := d.ref("tiktok", v.ID); err != nil {
		return err
	}
	d.address(v.Page)
	d.handle(string(v.Channel.v.Username))
	d.rec.CreatorID = string(v.Channel.v.ID)
	d.posted(v.Uploaded, v.UploadedISO)
	d.rec.Metrics = stage.Metrics{
		Views: d.open(v.Views), Likes: d.open(v.Likes), Comments: d.open(v.Comments), Shares: d.open(v.Shares), Saves: d.open(v.Bookmarks),
	}
	d.caption(v.Title, texts(v.Hashtags))
	d.sound(text(v.Song.v.ID), v.Song.v.Title, v.Song.v.Artist)
	d.length(v.Video.v.Duration)
	return nil
}
