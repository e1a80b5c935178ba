package formats

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	jsonx "github.com/go-json-experiment/json"
)

// scope is what an object inherits of what it is in.
type scope struct {
	// list is a playlist of yt-dlp.
	list *info
	// owner is the account that a whole answer is about.
	owner string
	// business says that it is an answer of Instagram's Business Discovery.
	business bool
	// observed is when an envelope was written, in Unix milliseconds.
	observed *int64
	// format is that of the envelope.
	format Format
}

// inside is the scope of the list in an object whose other members are raw.
func (c scope) inside(raw []byte) scope {
	var list info
	if jsonx.Unmarshal(raw, &list, lenient) == nil {
		c.list = &list
	}
	return c
}

// value takes one JSON object: a video in some format, or something that holds
// videos. What is neither is counted. The error is emit's.
func (r *reading) value(raw []byte, c scope, line, depth int) error {
	o, err := r.parser.parse(raw)
	if err != nil {
		r.skip(Malformed, line, err.Error())
		return nil
	}
	if o.has("source_platform") && o.kind("data") == '{' {
		return r.envelope(o, line, depth)
	}
	if o.kind("__import_meta") == '{' && c.observed == nil { // 4CAT keeps the envelope here
		c.observed = written(o.sub("__import_meta"))
	}
	form := r.table.detect(o)
	if r.maps(o, form) {
		return r.objects.object(r, o, line)
	}
	if form == nil || form.late || o.kind("entries") == '[' {
		switch names := holds(o); {
		case isError(o):
			r.skip(ErrorAnswer, line, "an error instead of a video")
			return nil
		case len(names) > 0 && depth < maxDepth:
			return r.nested(o, names, c, line, depth)
		case o.any("followers_count", "media_count", "follower_count", "followersCount"):
			r.skip(NotVideo, line, "an account")
			return nil
		}
	}
	if forced := r.options.Format; forced != "" && c.format != forced {
		form = r.table.named(forced, o)
	}
	if form == nil || form.read == nil {
		r.skip(UnknownForm, line, "an object in no known format")
		return nil
	}
	d := draft{now: r.options.Now, sample: r.options.Sample, scope: c}
	if err := form.read(&d, o); err != nil {
		var known *fault
		if !errors.As(err, &known) {
			known = &fault{Malformed, err.Error()}
		}
		r.skip(known.reason, line, known.detail)
		return nil
	}
	name := form.Name
	if c.format != "" {
		name = c.format
	}
	return r.draft(&d, name, line)
}

// maps reports whether the column map reads an object: one in no format that has a mark
// of its own, and that is no list of videos.
func (r *reading) maps(o *object, form *format) bool {
	forced := r.options.Format
	return r.objects.fits(o) && (forced == Mapped || forced == "" && (form == nil || form.late)) &&
		!slices.ContainsFunc(listNames, func(name string) bool { return o.kind(name) == '[' })
}

// holds are the members of an answer that hold videos.
func holds(o *object) (names []string) {
	for _, name := range listNames {
		if o.kind(name) == '[' {
			names = append(names, name)
		}
	}
	for _, name := range nestNames {
		if o.kind(name) == '{' {
			names = append(names, name)
		}
	}
	return names
}

// isError reports an error; an answer of TikTok says `ok` in the same place.
func isError(o *object) bool {
	if o.kind("error") != '{' {
		return o.has("error")
	}
	return o.text("error.code") != "ok"
}

// nested takes the videos that an object in memory holds.
func (r *reading) nested(o *object, names []string, c scope, line, depth int) error {
	members := maps.Clone(o.members) // the map is used again for what is inside
	if owner := o.text("username"); owner != "" {
		c.owner = string(owner)
	}
	rest := properties{}
	for name, value := range members {
		if kind := value.Kind(); kind != '[' && kind != '{' {
			rest.raw(name, value)
		}
	}
	for _, name := range names {
		value := members[name]
		inner, at := c, line+bytes.Count(o.raw[:max(0, bytes.Index(o.raw, value))], []byte("\n"))
		inner.business = inner.business || name == "business_discovery"
		var err error
		if value.Kind() == '[' {
			err = r.list(newFrames(bytes.NewReader(value), at, documentLimit), inner.inside(rest.whole()), depth+1)
		} else {
			err = r.value(value, inner, at, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// envelope reads the item that Zeeschuimer captured from a page.
func (r *reading) envelope(o *object, line, depth int) error {
	platform := strings.ToLower(string(o.text("source_platform")))
	switch forced := r.options.Format; {
	case forced != "" && forced != Zeeschuimer:
		r.skip(UnknownForm, line, "an envelope of Zeeschuimer")
	case platform != "tiktok.com" && platform != "instagram.com":
		r.skip(OtherPlatform, line, "captured on a platform that is not read")
	case depth >= maxDepth:
		r.skip(Malformed, line, "envelopes in envelopes")
	default:
		return r.value(o.at("data"), scope{observed: written(o), format: Zeeschuimer}, line, depth+1)
	}
	return nil
}

// written is when the data in an envelope was captured, or replaced by a later page.
func written(o *object) *int64 {
	if at := o.number("last_updated").value; at != nil {
		return at
	}
	return o.number("timestamp_collected").value
}
