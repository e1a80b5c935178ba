package formats

import "github.com/scrollery/scrollery/plugins/stage"

// instagramPost is a post of the hosted Instagram scrapers.
type instagramPost struct {
	ID        text       `json:"id"`
	Shortcode text       `json:"shortCode"`
	URL       text       `json:"url"`
	Type      text       `json:"type"`
	Product   text       `json:"productType"`
	Caption   text       `json:"caption"`
	Hashtags  many[text] `json:"hashtags"`
	Timestamp text       `json:"timestamp"`
	Owner     text       `json:"ownerUsername"`
	OwnerID   text       `json:"ownerId"`
	Plays     number     `json:"videoPlayCount"`
	Views     number     `json:"videoViewCount"`
	Likes     number     `json:"likesCount"`
	Comments  number     `json:"commentsCount"`
	Shares    number     `json:"sharesCount"`
	Duration  decimal    `json:"videoDuration"`
	Music     sub[struct {
		ID     text `json:"audio_id"`
		Title  text `json:"song_name"`
		Artist text `json:"artist_name"`
	}] `json:"musicInfo"`
}

func fitsInstagramScraper(s shape) bool {
	return s.has("shortCode") || s.has("ownerUsername", "likesCount")
}

func readInstagramScraper(d *draft, raw []byte) error {
	var v instagramPost
	if err := decode(raw, &v); err != nil {
		return err
	}
	if v.Type != "Video" && v.Product != "clips" && v.Plays.value == nil && v.Views.value == nil {
		return skipped(NotVideo, "a photo or an album")
	}
	code := v.Shortcode
	if code == "" {
		code = text(shortcode(string(v.URL)))
	}
	if err := d.ref("instagram", code); err != nil {
		return err
	}
	d.address(v.URL)
	d.handle(string(v.Owner))
	d.rec.CreatorID = string(v.OwnerID)
	d.posted(v.Timestamp)
	d.rec.Metrics = stage.Metrics{
		// Plays are what Instagram shows; its older count of views is lower.
		Views: d.first(v.Plays, v.Views), Likes: d.open(v.Likes), Comments: d.open(v.Comments), Shares: d.open(v.Shares),
	}
	d.caption(v.Caption, texts(v.Hashtags))
	d.sound(v.Music.v.ID, v.Music.v.Title, v.Music.v.Artist)
	d.length(v.Duration)
	d.meta.text("mediaType", string(v.Product))
	return nil
}
