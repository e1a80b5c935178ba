package formats

import (
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// layout says where a form keeps the properties of a video. Each is a path; of
// several, apart by spaces, the first that holds something counts. See [object].
type layout struct {
	address, handle, creator, posted string

	views, likes, comments, shares, saves string
	// followers are the creator's.
	followers string
	// strict counts a -1 as doubtful; else it is a count that is hidden.
	strict    bool
	semantics string

	caption string
	// tags are lists of hashtags, which all count.
	tags                            string
	soundID, soundTitle, soundMaker string
	duration, language, region      string
	// millis is a duration in milliseconds.
	millis        string
	mediaType, ad string
}

// fill reads what the layout names.
func (d *draft) fill(o *object, l layout) {
	d.address(every(o.text, l.address)...)
	d.handle(o.first(l.handle))
	d.rec.CreatorID = o.first(l.creator)
	d.posted(every(o.text, l.posted)...)
	count := func(paths string) *int64 {
		for path := range strings.FieldsSeq(paths) {
			if value := d.shown(o, path, l.strict); value != nil {
				return value
			}
		}
		return nil
	}
	d.rec.Metrics = stage.Metrics{
		Views: count(l.views), Likes: count(l.likes), Comments: count(l.comments), Shares: count(l.shares), Saves: count(l.saves),
		Semantics: l.semantics,
	}
	if l.followers != "" {
		d.rec.Metrics.Followers = count(l.followers)
	}
	if d.rounded && l.semantics == "" {
		d.rec.Metrics.Semantics = "rounded"
	}
	var tags []string
	for path := range strings.FieldsSeq(l.tags) {
		tags = append(tags, o.list(path)...)
	}
	d.caption(text(o.first(l.caption)), tags)
	d.sound(text(o.first(l.soundID)), text(o.first(l.soundTitle)), text(o.first(l.soundMaker)))
	if l.millis != "" {
		if n := o.number(l.millis).value; n != nil {
			d.length(float64(*n) / 1000)
		}
	} else if seconds, known := parseDuration(string(o.text(l.duration)), ""); known {
		d.length(seconds)
	}
	if language := o.text(l.language); language != "un" { // TikTok's word for unknown
		d.meta.text("language", string(language))
	}
	d.meta.text("region", string(o.text(l.region)))
	d.meta.text("mediaType", string(o.text(l.mediaType)))
	if o.flag(l.ad) {
		d.meta.raw("isAd", []byte("true"))
	}
}
