package formats

import (
	"math/big"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// instagramItem is an item of Instagram's own pages and apps.
type instagramItem struct {
	Code     text                  `json:"code"`
	PK       text                  `json:"pk"`
	ID       text                  `json:"id"`
	TypeName text                  `json:"__typename"`
	Type     number                `json:"media_type"`
	Product  text                  `json:"product_type"`
	Taken    text                  `json:"taken_at"`
	Caption  sub[instagramCaption] `json:"caption"`
	User     sub[instagramUser]    `json:"user"`
	Owner    sub[instagramUser]    `json:"owner"`
	Plays    number                `json:"play_count"`
	OwnPlays number                `json:"ig_play_count"`
	Views    number                `json:"view_count"`
	Likes    number                `json:"like_count"`
	Comments number                `json:"comment_count"`
	Hidden   flag                  `json:"like_and_view_counts_disabled"`
	Duration decimal               `json:"video_duration"`
	Clips    sub[struct {
		Music sub[struct {
			Asset sub[struct {
				ID     text `json:"audio_cluster_id"`
				Title  text `json:"title"`
				Artist text `json:"display_artist"`
			}] `json:"music_asset_info"`
		}] `json:"music_info"`
		Original sub[struct {
			ID    text `json:"audio_asset_id"`
			Title text `json:"original_audio_title"`
			By    sub[struct {
				Username text `json:"username"`
			}] `json:"ig_artist"`
		}] `json:"original_sound_info"`
	}] `json:"clips_metadata"`
}

type instagramCaption struct {
	Text text `json:"text"`
}

type instagramUser struct {
	ID       text `json:"id"`
	PK       text `json:"pk"`
	Username text `json:"username"`
}

func fitsInstagramWeb(s shape) bool {
	if !s.any("code", "pk") || s.has("shortcode") {
		return false
	}
	return s["media_type"] == '0' || s.any("product_type", "taken_at", "ig_play_count", "like_and_view_counts_disabled") ||
		s.has("__typename", "user")
}

// The kinds of media in numbers, as Instagram has them.
const (
	instagramPhoto = 1
	instagramVideo = 2
	instagramAlbum = 8
)

func readInstagramWeb(d *draft, raw []byte) error {
	var v instagramItem
	if err := decode(raw, &v); err != nil {
		return err
	}
	kind := v.Type.value
	named := strings.Contains(string(v.TypeName), "VideoMedia")
	switch {
	case kind != nil && *kind != instagramVideo:
		return skipped(NotVideo, "a photo or an album")
	case v.Product == "story" || strings.Contains(string(v.TypeName), "PhotoMedia") || strings.Contains(string(v.TypeName), "ImageMedia"):
		return skipped(NotVideo, "a photo or a story")
	case kind == nil && v.Product != "clips" && v.Product != "igtv" && !named:
		return skipped(NotVideo, "nothing says that it is a video")
	}
	code := v.Code
	if code == "" {
		code = text(codeOf(first(v.PK, v.ID)))
	}
	if err := d.ref("instagram", code); err != nil {
		return err
	}
	user := v.User.v
	if user.Username == "" {
		user = v.Owner.v
	}
	d.handle(string(user.Username))
	d.rec.CreatorID = first(user.PK, user.ID)
	d.posted(v.Taken)
	d.rec.Metrics = stage.Metrics{Views: d.first(v.Plays, v.OwnPlays, v.Views), Comments: d.open(v.Comments)}
	if !v.Hidden { // what stands there else is not the count
		d.rec.Metrics.Likes = d.open(v.Likes)
	}
	d.caption(v.Caption.v.Text, nil)
	music, own := v.Clips.v.Music.v.Asset.v, v.Clips.v.Original.v
	d.sound(text(first(music.ID, own.ID)), text(first(music.Title, own.Title)), text(first(music.Artist, own.By.v.Username)))
	d.length(v.Duration)
	d.meta.text("mediaType", string(v.Product))
	if v.Product == "ad" {
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
		code = append([]byte{digits[digit.Int64()]}, code...)
	}
	return string(code)
}
