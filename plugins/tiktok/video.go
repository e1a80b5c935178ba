package tiktok

import (
	"encoding/json"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// fieldNames are what is asked of each video. Without its id none can be stored.
func fieldNames() *sources.Names {
	return sources.NewNames([]string{"id"}, []string{
		"username", "create_time", "view_count", "like_count", "comment_count", "share_count", "favorites_count",
		"video_description", "video_duration", "hashtag_names", "music_id", "region_code", "voice_to_text", "sticker_info_list",
		"effect_ids", "playlist_id", "video_mention_list", "video_label",
	})
}

// video is one as the interface sends it. Absent fields are normal, and likes
// above views too: the counts are not of one moment.
type video struct {
	ID          site.ID         `json:"id"`
	Description site.Text       `json:"video_description"`
	Created     site.Count      `json:"create_time"`
	Region      site.Text       `json:"region_code"`
	Shares      site.Count      `json:"share_count"`
	Views       site.Count      `json:"view_count"`
	Likes       site.Count      `json:"like_count"`
	Comments    site.Count      `json:"comment_count"`
	Music       site.ID         `json:"music_id"`
	Hashtags    site.Texts      `json:"hashtag_names"`
	Username    site.Text       `json:"username"`
	Effects     site.Texts      `json:"effect_ids"`
	Playlist    site.ID         `json:"playlist_id"`
	Voice       site.Text       `json:"voice_to_text"`
	Favorites   site.Count      `json:"favorites_count"`
	Stickers    stickers        `json:"sticker_info_list"`
	Duration    site.Count      `json:"video_duration"`
	Mentions    site.Texts      `json:"video_mention_list"`
	Label       json.RawMessage `json:"video_label"`
}

// stickers are the texts that are printed over a video, in the interface's form.
type stickers []stage.Sticker

// UnmarshalJSON takes an array of objects with a `sticker_name`; an item without one, or
// any other value, is left out.
func (s *stickers) UnmarshalJSON(raw []byte) error {
	*s = nil
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	for _, item := range items[:min(len(items), stage.MaxStickers)] {
		var one struct {
			Name site.Text `json:"sticker_name"`
		}
		if json.Unmarshal(item, &one) == nil && strings.TrimSpace(string(one.Name)) != "" {
			*s = append(*s, stage.Sticker{Text: string(one.Name)})
		}
	}
	return nil
}

// metadata is what the library keeps of it, under the library's names.
type metadata struct {
	Caption   string          `json:"caption"`
	Hashtags  []string        `json:"hashtags,omitempty"`
	SoundID   string          `json:"soundId,omitempty"`
	Duration  *int64          `json:"durationSeconds,omitempty"`
	Region    string          `json:"region,omitempty"`
	Effects   []string        `json:"effectIds,omitempty"`
	Playlist  string          `json:"playlistId,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	Label     json.RawMessage `json:"label,omitempty"`
	Interface string          `json:"interface"`
}

// maxLabel is what of the label is kept, in bytes.
const maxLabel = 4 << 10

// usernameForm is what can be in a video's address.
var usernameForm = lazy.Pattern(`^[A-Za-z0-9_.]{1,40}$`)

func (v video) record() stage.Record {
	record := stage.Record{
		Ref: stage.Ref{Platform: platform, ExternalID: string(v.ID)},
		Metrics: stage.Metrics{
			Views: v.Views.N, Likes: v.Likes.N, Comments: v.Comments.N, Shares: v.Shares.N, Saves: v.Favorites.N,
			Semantics: "lagged",
		},
	}
	if name := string(v.Username); usernameForm().MatchString(name) {
		record.Source = &stage.Source{Handle: name}
		record.SourceURL = "https://www.tiktok.com/@" + name + "/video/" + string(v.ID)
	}
	if v.Created.N != nil {
		at := *v.Created.N * 1000
		record.PostedAt = &at
	}
	if said := string(v.Voice); said != "" {
		record.Evidence = &stage.Evidence{Spoken: &said}
	}
	record.Stickers = v.Stickers
	kept := metadata{
		Caption: string(v.Description), Hashtags: v.Hashtags, SoundID: string(v.Music), Duration: v.Duration.N,
		Region: string(v.Region), Effects: v.Effects, Playlist: string(v.Playlist), Mentions: v.Mentions,
		Interface: "research",
	}
	if len(v.Label) > 0 && v.Label[0] == '{' && len(v.Label) <= maxLabel {
		kept.Label = v.Label
	}
	record.Metadata, _ = json.Marshal(kept) // text, numbers and valid JSON always encode
	return record
}
