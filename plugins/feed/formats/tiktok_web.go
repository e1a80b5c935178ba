package formats

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// tiktokCounts are the counts of a TikTok page; in statsV2 they are strings.
type tiktokCounts struct {
	Plays    number `json:"playCount"`
	Likes    number `json:"diggCount"`
	Comments number `json:"commentCount"`
	Shares   number `json:"shareCount"`
	Saves    number `json:"collectCount"`
}

// tiktokWeb is an item of TikTok's own pages.
type tiktokWeb struct {
	ID      text `json:"id"`
	Desc    text `json:"desc"`
	Created text `json:"createTime"`
	// Author is an object in what the pages load, and the name in what they bring along.
	Author   jsontext.Value    `json:"author"`
	AuthorID text              `json:"authorId"`
	Stats    sub[tiktokCounts] `json:"stats"`
	StatsV2  sub[tiktokCounts] `json:"statsV2"`
	Music    sub[struct {
		ID     text `json:"id"`
		Title  text `json:"title"`
		Author text `json:"authorName"`
	}] `json:"music"`
	Challenges many[sub[struct {
		Title text `json:"title"`
	}]] `json:"challenges"`
	Extra many[sub[struct {
		Hashtag text `json:"hashtagName"`
	}]] `json:"textExtra"`
	Video sub[struct {
		Duration decimal `json:"duration"`
	}] `json:"video"`
	Stickers many[sub[struct {
		Text many[text] `json:"stickerText"`
	}]] `json:"stickersOnItem"`
	Language text           `json:"textLanguage"`
	Region   text           `json:"locationCreated"`
	Ad       flag           `json:"isAd"`
	Images   jsontext.Value `json:"imagePost"`
}

func fitsTikTokWeb(s shape) bool {
	return s.has("id", "createTime") && (s["stats"] == '{' || s["statsV2"] == '{') || s.has("id", "createTime", "desc", "author")
}

func readTikTokWeb(d *draft, raw []byte) error {
	var v tiktokWeb
	if err := decode(raw, &v); err != nil {
		return err
	}
	if v.Images.Kind() == '{' {
		return skipped(NotVideo, "a post of photos")
	}
	if err := d.ref("tiktok", v.ID); err != nil {
		return err
	}
	var author sub[struct {
		ID   text `json:"id"`
		Name text `json:"uniqueId"`
	}]
	var name text
	if len(v.Author) > 0 {
		// Each takes its own kind and nothing of the other.
		if err := decode(v.Author, &author); err != nil {
			return err
		}
		if err := decode(v.Author, &name); err != nil {
			return err
		}
	}
	d.handle(first(author.v.Name, name))
	d.rec.CreatorID = first(author.v.ID, v.AuthorID)
	d.posted(v.Created)
	// The newer counts first: the older ones are cut at 2^31.
	a, b := v.StatsV2.v, v.Stats.v
	d.rec.Metrics = stage.Metrics{
		Views: d.first(a.Plays, b.Plays), Likes: d.first(a.Likes, b.Likes), Comments: d.first(a.Comments, b.Comments),
		Shares: d.first(a.Shares, b.Shares), Saves: d.first(a.Saves, b.Saves),
	}
	var tags []string
	for _, challenge := range v.Challenges {
		tags = append(tags, string(challenge.v.Title))
	}
	for _, extra := range v.Extra {
		tags = append(tags, string(extra.v.Hashtag))
	}
	d.caption(v.Desc, tags)
	for _, sticker := range v.Stickers {
		if printed := strings.TrimSpace(strings.Join(texts(sticker.v.Text), " ")); printed != "" {
			d.rec.Stickers = append(d.rec.Stickers, stage.Sticker{Text: printed})
		}
	}
	d.sound(v.Music.v.ID, v.Music.v.Title, v.Music.v.Author)
	d.length(v.Video.v.Duration)
	if v.Language != "un" { // TikTok's word for unknown
		d.meta.text("language", string(v.Language))
	}
	d.meta.text("region", string(v.Region))
	if v.Ad {
		d.meta.raw("isAd", []byte("true"))
	}
	return nil
}
