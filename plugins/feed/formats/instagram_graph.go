package formats

import (
	"net/url"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// instagramMedia is a media object of the Instagram Graph API.
type instagramMedia struct {
	ID        text   `json:"id"`
	Shortcode text   `json:"shortcode"`
	Permalink text   `json:"permalink"`
	Caption   text   `json:"caption"`
	Type      text   `json:"media_type"`
	Product   text   `json:"media_product_type"`
	Timestamp text   `json:"timestamp"`
	Username  text   `json:"username"`
	Views     number `json:"view_count"`
	Likes     number `json:"like_count"`
	Comments  number `json:"comments_count"`
	Owner     sub[struct {
		ID text `json:"id"`
	}] `json:"owner"`
}

func fitsInstagramGraph(s shape) bool {
	return s.has("id") && (s["media_type"] == '"' || s["media_product_type"] == '"')
}

func readInstagramGraph(d *draft, raw []byte) error {
	var v instagramMedia
	if err := decode(raw, &v); err != nil {
		return err
	}
	switch {
	case v.Product == "STORY" || v.Product == "AD":
		return skipped(NotVideo, "a story or an advertisement")
	case v.Type != "VIDEO" && v.Product != "REELS":
		return skipped(NotVideo, "a photo or an album")
	}
	// The API's own id is known to nobody but the asker; the shortcode is everybody's.
	code := v.Shortcode
	if code == "" {
		code = text(shortcode(string(v.Permalink)))
	}
	if code == "" {
		return skipped(NoID, "neither shortcode nor permalink")
	}
	if err := d.ref("instagram", code); err != nil {
		return err
	}
	d.address(v.Permalink)
	d.handle(first(v.Username, text(d.scope.owner)))
	d.rec.CreatorID = string(v.Owner.v.ID)
	d.posted(v.Timestamp)
	d.rec.Metrics = stage.Metrics{Views: d.open(v.Views), Likes: d.open(v.Likes), Comments: d.open(v.Comments)}
	if d.scope.business || d.rec.Metrics.Views != nil {
		d.rec.Metrics.Semantics = "paid_and_organic"
	}
	d.caption(v.Caption, nil)
	d.meta.text("mediaType", strings.ToLower(string(v.Product)))
	return nil
}

// shortcode is the one in the address of a post, a reel or a video of the older kind.
func shortcode(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.Host != "instagram.com" && !strings.HasSuffix(at.Host, ".instagram.com") {
		return ""
	}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		switch part {
		case "p", "reel", "reels", "tv":
			return parts[i+1]
		}
	}
	return ""
}
