package formats

import "github.com/scrollery/scrollery/plugins/stage"

// research is a video as the TikTok Research API answers it. Its ids are JSON
// numbers above 2^53; text takes them digit by digit.
type research struct {
	ID          text       `json:"id"`
	Description text       `json:"video_description"`
	Created     text       `json:"create_time"`
	Region      text       `json:"region_code"`
	Username    text       `json:"username"`
	Music       text       `json:"music_id"`
	Hashtags    many[text] `json:"hashtag_names"`
	Voice       text       `json:"voice_to_text"`
	Duration    decimal    `json:"video_duration"`
	Views       number     `json:"view_count"`
	Likes       number     `json:"like_count"`
	Comments    number     `json:"comment_count"`
	Shares      number     `json:"share_count"`
	Saves       number     `json:"favourites_count"`
	SavesUS     number     `json:"favorites_count"`
}

func fitsTikTokResearch(s shape) bool {
	return s.has("id", "create_time") && s.any("video_description", "voice_to_text", "region_code", "hashtag_names") && !s.has("extractor")
}

func readTikTokResearch(d *draft, raw []byte) error {
	var v research
	if err := decode(raw, &v); err != nil {
		return err
	}
	if err := d.ref("tiktok", v.ID); err != nil {
		return err
	}
	d.handle(string(v.Username))
	d.posted(v.Created)
	d.rec.Metrics = stage.Metrics{
		Views: d.count(v.Views), Likes: d.count(v.Likes), Comments: d.count(v.Comments), Shares: d.count(v.Shares),
		Saves: d.first(v.Saves, v.SavesUS), Semantics: "lagged",
	}
	if v.Voice != "" {
		spoken := string(v.Voice)
		d.rec.Evidence = &stage.Evidence{Spoken: &spoken}
	}
	d.caption(v.Description, texts(v.Hashtags))
	d.sound(v.Music, "", "")
	d.length(v.Duration)
	d.meta.text("region", string(v.Region))
	return nil
}

// texts are the texts of a list that say something.
func texts(all []text) (out []string) {
	for _, t := range all {
		if t != "" {
			out = append(out, string(t))
		}
	}
	return out
}
