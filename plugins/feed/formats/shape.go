package formats

import (
	"bytes"
	"errors"
	"io"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// shape is what tells the format of an object: its members and their kinds, as
// [jsontext.Kind] has them.
type shape map[string]jsontext.Kind

func (s shape) has(names ...string) bool {
	for _, name := range names {
		if kind, ok := s[name]; !ok || kind == 'n' {
			return false
		}
	}
	return true
}

func (s shape) any(names ...string) bool {
	for _, name := range names {
		if s.has(name) {
			return true
		}
	}
	return false
}

// shapeOf checks that raw is one valid object and gives its shape, good until the next call.
func (r *reading) shapeOf(raw []byte) (shape, error) {
	clear(r.members)
	r.text.Reset(raw)
	r.decoder.Reset(&r.text, lenient)
	if token, err := r.decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(errNoObject, err)
	}
	for r.decoder.PeekKind() != '}' {
		name, err := r.decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		r.members[key] = r.decoder.PeekKind()
		if err := r.decoder.SkipValue(); err != nil {
			return nil, err
		}
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errTrailing, err)
	}
	return r.members, nil
}

var (
	errNoObject = errors.New("no JSON object")
	errTrailing = errors.New("something follows the object")
)

// scope is what an object inherits of what it stands in.
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
	members, err := r.shapeOf(raw)
	if err != nil {
		r.skip(Malformed, line, err.Error())
		return nil
	}
	if members.has("source_platform") && members["data"] == '{' {
		return r.envelope(raw, line, depth)
	}
	if members["__import_meta"] == '{' && c.observed == nil {
		c.observed = metaTime(raw)
	}
	form := r.table.detect(members)
	if form == nil || form.late || members["entries"] == '[' {
		switch names := holds(members); {
		case members.isError(raw):
			r.skip(ErrorAnswer, line, "an error instead of a video")
			return nil
		case len(names) > 0 && depth < maxDepth:
			return r.nested(raw, names, c, line, depth)
		case members.any("followers_count", "media_count", "follower_count", "followersCount"):
			r.skip(NotVideo, line, "an account")
			return nil
		}
	}
	if forced := r.options.Format; forced != "" && c.format != forced {
		form = r.table.named(forced, members)
	}
	if form == nil || form.read == nil {
		r.skip(UnknownForm, line, "an object in no known format")
		return nil
	}
	d := draft{now: r.options.Now, sample: r.options.Sample, scope: c}
	if err := form.read(&d, raw); err != nil {
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

// holds are the members of an answer that hold videos.
func holds(s shape) (names []string) {
	for _, name := range listNames {
		if s[name] == '[' {
			names = append(names, name)
		}
	}
	for _, name := range nestNames {
		if s[name] == '{' {
			names = append(names, name)
		}
	}
	return names
}

// isError tells an error from an answer, which at TikTok says `ok` in the same place.
func (s shape) isError(raw []byte) bool {
	if s["error"] != '{' {
		return s.has("error")
	}
	var said struct {
		Error struct {
			Code text `json:"code"`
		} `json:"error"`
	}
	return decode(raw, &said) == nil && said.Error.Code != "ok"
}

// nested takes the videos that an object in memory holds.
func (r *reading) nested(raw []byte, names []string, c scope, line, depth int) error {
	var head struct {
		Username text `json:"username"`
	}
	members := map[string]jsontext.Value{}
	if err := jsonx.Unmarshal(raw, &members, lenient); err != nil {
		r.skip(Malformed, line, err.Error())
		return nil
	}
	_ = jsonx.Unmarshal(raw, &head, lenient) // it was valid a line above
	if head.Username != "" {
		c.owner = string(head.Username)
	}
	rest := properties{}
	for name, value := range members {
		if kind := value.Kind(); kind != '[' && kind != '{' {
			rest.raw(name, value)
		}
	}
	for _, name := range names {
		inner, at := c, line+bytes.Count(raw[:max(0, bytes.Index(raw, members[name]))], []byte("\n"))
		inner.business = inner.business || name == "business_discovery"
		var err error
		if members[name].Kind() == '[' {
			err = r.list(newFrames(bytes.NewReader(members[name]), at, documentLimit), inner.inside(rest.whole()), depth+1)
		} else {
			err = r.value(members[name], inner, at, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
