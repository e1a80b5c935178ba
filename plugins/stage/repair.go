package stage

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxExact = 1 << 53

// text cleans s, and cuts it at a character's border.
func (r *Repairs) text(s *string, limit int) {
	if len(*s) <= limit && strings.IndexByte(*s, 0) < 0 && utf8.ValidString(*s) {
		return
	}
	r.Text++
	fixed := CleanText(*s)
	if len(fixed) > limit {
		end := limit
		for end > 0 && !utf8.RuneStart(fixed[end]) {
			end--
		}
		fixed = fixed[:end]
	}
	*s = fixed
}

// url drops an address that is too long: a cut one leads elsewhere.
func (r *Repairs) url(s *string) {
	scheme, _, _ := strings.Cut(*s, "://")
	page := strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")
	if len(*s) > MaxURL || *s != "" && !page {
		*s = ""
		r.Values++
	}
	r.text(s, MaxURL)
}

func (r *Repairs) word(s *string, allowed ...string) {
	if *s != "" && !slices.Contains(allowed, *s) {
		*s = ""
		r.Values++
	}
}

func (r *Repairs) time(at **int64) {
	if *at != nil && (**at < minTime || **at >= maxTime) {
		*at = nil
		r.Values++
	}
}

func (r *Repairs) count(n **int64) {
	if *n != nil && (**n < 0 || **n > maxExact) {
		*n = nil
		r.Values++
	}
}

func (r *Repairs) object(raw *json.RawMessage, limit int, text bool) {
	if len(*raw) == 0 {
		*raw = nil
		return
	}
	fixed, repaired := CleanJSON(*raw)
	if len(fixed) > limit || !fitJSON(fixed, text) {
		*raw = nil
		r.JSON++
		return
	}
	if repaired {
		r.Text++
		*raw = fixed
	}
}

// metadata is object, but leaves out members of what is too large.
func (r *Repairs) metadata(rec *Record) {
	if len(rec.Metadata) > MaxMetadata/3 { // no repair makes a text more than three times as long
		fixed, repaired := CleanJSON(rec.Metadata)
		if len(fixed) > MaxMetadata {
			short, ok := fitObject(fixed)
			if !ok {
				rec.Metadata = nil
				r.JSON++
				return
			}
			if len(short) < len(fixed) {
				rec.Metadata, rec.Trimmed = short, true
				r.Trimmed++
				if repaired {
					r.Text++
				}
			}
		}
	}
	r.object(&rec.Metadata, MaxKnown, false)
}

func (r *Repairs) evidence(e *Evidence) {
	r.object(&e.Visual, MaxVisual, true)
	for _, s := range []*string{e.Spoken, e.OnScreenText} {
		if s != nil {
			r.text(s, MaxText)
		}
	}
	if said := e.Language; said != "" {
		if e.Language = LanguageOf(said); e.Language == "" {
			r.Values++
		}
	}
}

// LanguageOf is the language of a BCP 47 tag without its region and script: `en` of
// `en-US` and of `EN_us`. It is empty for what is no language of two or three letters, and
// for the tags that say that none is known.
func LanguageOf(tag string) string {
	if len(tag) > 40 {
		return ""
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), "-")
	first = strings.ToLower(first)
	switch {
	case len(first) != 2 && len(first) != 3, strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") != "":
		return ""
	case slices.Contains([]string{"un", "und", "mis", "mul", "zxx"}, first): // un is a site's word for und
		return ""
	}
	return first
}

func (r *Repairs) cues(cues *[]Cue) {
	if len(*cues) > MaxCues {
		*cues = (*cues)[:MaxCues]
		r.Values++
	}
	for i := range *cues {
		cue := &(*cues)[i]
		r.text(&cue.Text, MaxText)
		if cue.Start < 0 || cue.Start > maxExact || cue.End < cue.Start || cue.End > maxExact {
			cue.Start, cue.End = min(max(cue.Start, 0), maxExact), min(max(cue.Start, cue.End, 0), maxExact)
			r.Values++
		}
	}
}

func (r *Repairs) stickers(stickers *[]Sticker) {
	if len(*stickers) > MaxStickers {
		*stickers = (*stickers)[:MaxStickers]
		r.Values++
	}
	for i := range *stickers {
		sticker := &(*stickers)[i]
		r.text(&sticker.Text, MaxText)
		if sticker.Start < 0 || sticker.Start > maxExact {
			sticker.Start = 0
			r.Values++
		}
	}
}

func (r *Repairs) keys(keys *[]Key) {
	if len(*keys) > MaxKeys {
		*keys = (*keys)[:MaxKeys]
		r.Values++
	}
	for i := range *keys {
		r.text(&(*keys)[i].Key, MaxLabel)
		r.text(&(*keys)[i].Label, MaxLabel)
	}
}
