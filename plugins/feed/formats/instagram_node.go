package formats

import (
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// instagramNode is a post as Instagram's pages had it for years, and as instaloader
// keeps it.
type instagramNode struct {
	Shortcode text          `json:"shortcode"`
	TypeName  text          `json:"__typename"`
	Video     flag          `json:"is_video"`
	Product   text          `json:"product_type"`
	Taken     text          `json:"taken_at_timestamp"`
	Date      text          `json:"date"`
	Plays     number        `json:"video_play_count"`
	Views     number        `json:"video_view_count"`
	Likes     sub[counted]  `json:"edge_media_preview_like"`
	LikedBy   sub[counted]  `json:"edge_liked_by"`
	Comments  sub[counted]  `json:"edge_media_to_comment"`
	Parents   sub[counted]  `json:"edge_media_to_parent_comment"`
	Previews  sub[counted]  `json:"edge_media_preview_comment"`
	Hidden    flag          `json:"like_and_view_counts_disabled"`
	Duration  decimal       `json:"video_duration"`
	Caption   sub[captions] `json:"edge_media_to_caption"`
	Owner     sub[struct {
		ID       text `json:"id"`
		Username text `json:"username"`
	}] `json:"owner"`
	Music sub[struct {
		ID     text `json:"audio_id"`
		Title  text `json:"song_name"`
		Artist text `json:"artist_name"`
	}] `json:"clips_music_attribution_info"`
}

type counted struct {
	Count number `json:"count"`
}

type captions struct {
	Edges many[sub[struct {
		Node sub[instagramCaption] `json:"node"`
	}]] `json:"edges"`
}

func fitsInstagramNode(s shape) bool {
	return s.has("shortcode") && (s.any("taken_at_timestamp", "is_video", "edge_media_to_caption", "edge_media_preview_like", "video_view_count") || s.has("__typename"))
}

func readInstagramNode(d *draft, raw []byte) error {
	var v instagramNode
	if err := decode(raw, &v); err != nil {
		return err
	}
	if !bool(v.Video) && !strings.HasSuffix(string(v.TypeName), "GraphVideo") {
		return skipped(NotVideo, "a photo or an album")
	}
	if err := d.ref("instagram", v.Shortcode); err != nil {
		return err
	}
	d.handle(string(v.Owner.v.Username))
	d.rec.CreatorID = string(v.Owner.v.ID)
	d.posted(v.Taken, v.Date)
	d.rec.Metrics = stage.Metrics{
		Views:    d.first(v.Plays, v.Views),
		Comments: d.first(v.Comments.v.Count, v.Parents.v.Count, v.Previews.v.Count),
	}
	if !v.Hidden {
		d.rec.Metrics.Likes = d.first(v.Likes.v.Count, v.LikedBy.v.Count)
	}
	var caption text
	if edges := v.Caption.v.Edges; len(edges) > 0 {
		caption = edges[0].v.Node.v.Text
	}
	d.caption(caption, nil)
	d.sound(v.Music.v.ID, v.Music.v.Title, v.Music.v.Artist)
	d.length(v.Duration)
	d.meta.text("mediaType", string(v.Product))
	return nil
}
