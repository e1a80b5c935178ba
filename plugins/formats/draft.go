package formats

import (
	"html"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// draft is a record while its format reads it.
type draft struct {
	rec stage.Record
	// doubtful counts values that made no sense and were left out; misread are those with a name.
	doubtful int
	misread  []Misread
	// rounded says that a count was written as text, such as 1.2M.
	rounded bool
	// left says that the views were left out on purpose, such as those who watch a live stream.
	left bool
	// kindless says that a post of Instagram is not said to be a video.
	kindless bool
	meta     properties
	now      int64
	sample   bool
	scope    scope
	// words is the vocabulary, for counts in words.
	words func() *vocabulary
}

// counted reports whether any count was read, or left out on purpose.
func (d *draft) counted() bool {
	m := d.rec.Metrics
	return d.left || m.Views != nil || m.Likes != nil || m.Comments != nil || m.Shares != nil || m.Saves != nil
}

// count is a count, null if there is none.
func (d *draft) count(n number) *int64 {
	if n.bad {
		d.doubtful++
	}
	return n.value
}

// shown is a count of a member, also as text that people write, unless the form is strict. What
// it cannot read is noted.
func (d *draft) shown(o *object, path string, strict bool) *int64 {
	n := o.number(path)
	if n.bad && !n.hidden && !strict && d.words != nil {
		c := (&numberStyle{words: d.words().count}).count(string(o.text(path)))
		n, d.rounded = c.number, d.rounded || c.rounded
	}
	if n.bad && (strict || !n.hidden) {
		d.misread = append(d.misread, Misread{Column: path, Text: string(o.at(path))})
	}
	return n.value
}

// ref names the video; ids of TikTok are digits.
func (d *draft) ref(platform string, id text) error {
	d.rec.Ref = stage.Ref{Platform: platform, ExternalID: strings.TrimSpace(string(id))}
	if !usableID(d.rec.ExternalID) || (platform == "tiktok" && strings.Trim(d.rec.ExternalID, "0123456789") != "") {
		if scientific().MatchString(d.rec.ExternalID) {
			return skipped(NoID, "a program has rounded the id to %.30s: export it as text", d.rec.ExternalID)
		}
		return skipped(NoID, "no usable id")
	}
	return nil
}

func (d *draft) handle(handle string) {
	if handle = strings.TrimPrefix(strings.TrimSpace(handle), "@"); handle != "" {
		d.rec.Source = &stage.Source{Handle: handle}
	}
}

// address takes the first that is a page's address.
func (d *draft) address(addresses ...text) {
	for _, address := range addresses {
		if d.rec.SourceURL == "" {
			d.rec.SourceURL = webAddress(string(address))
		}
	}
}

// caption keeps the text and the tags: those listed, else those in the text.
func (d *draft) caption(caption text, listed []string) {
	d.meta.text("caption", string(caption))
	d.tags(listed, string(caption))
}

func (d *draft) tags(listed []string, caption string) {
	var tags []string
	seen := map[string]bool{"": true}
	for _, tag := range listed {
		tag = strings.TrimLeft(strings.TrimSpace(tag), "#＃")
		if !seen[fold(tag)] {
			seen[fold(tag)] = true
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		tags = Hashtags(caption)
	}
	d.meta.list("hashtags", tags)
}

func (d *draft) sound(id, title, artist text) {
	if id != "0" {
		d.meta.text("soundId", string(id))
	}
	d.meta.text("soundTitle", string(title))
	d.meta.text("soundArtist", string(artist))
}

// length keeps a duration; none is 0 seconds long.
func (d *draft) length(seconds float64) {
	if seconds > 0 && seconds < 1e9 {
		d.meta.number("durationSeconds", seconds)
	}
}

// posted takes the first time that is there: Unix seconds, or milliseconds from
// 10^11 on, or ISO 8601, or else as people write it.
func (d *draft) posted(times ...text) {
	for _, t := range times {
		if d.rec.PostedAt == nil && t != "" {
			if d.rec.PostedAt = instant(string(t)); d.rec.PostedAt == nil {
				at, ok := (&timeStyle{}).read(string(t))
				switch {
				case !ok:
					d.misread = append(d.misread, Misread{Column: "postedAt", Text: string(t)})
				case at.dated:
					d.rec.PostedAt = exactly(d.rec.Ref, &at.at)
				default:
					d.rec.PostedAt = &at.at
				}
			} else if len(t) == len(time.DateOnly) && strings.Count(string(t), "-") == 2 {
				d.rec.PostedAt = exactly(d.rec.Ref, d.rec.PostedAt)
			}
		}
	}
}

// exactly is the time that a video's id gives instead of a date without a time of day;
// that date if it gives none, or, as invented ids do, one of another season.
func exactly(ref stage.Ref, date *int64) *int64 {
	const days = 24 * 3600 * 1000
	if at := stage.PostedByID(ref); at != nil && abs(*at-*date) <= 60*days { // it may have been uploaded long before
		return at
	}
	return date
}

// instant is a time in Unix milliseconds; nil if it is none. Zero is none.
func instant(s string) *int64 {
	if n := parseNumber(s); n.value != nil {
		switch {
		case *n.value == 0:
			return nil
		case *n.value < 1e11:
			return millis(n.value)
		}
		return n.value
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(layout, s); err == nil && at.UnixMilli() > 0 {
			ms := at.UnixMilli()
			return &ms
		}
	}
	return nil
}

// unescaped is text of an API that writes it for web pages.
func unescaped(t text) text { return text(html.UnescapeString(string(t))) }
