package formats

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
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
	// quiet says that videos are looked for anywhere: what is none is not counted.
	quiet bool
	// table has the names of the columns of lists of lists.
	table *listTable
	// listed says that the object is in a list of a name that lists of videos have: if it is
	// in no known form, its members may be understood.
	listed bool
	// viewed says that it is no video without views: the list's name may be that of anything.
	viewed bool
	// key is the creator that the name of a member above says.
	key creatorKey
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
	if err != nil && c.quiet {
		return nil
	}
	if err != nil {
		r.out.skip(Malformed, line, err.Error())
		return nil
	}
	if o.has("source_platform") && o.kind("data") == '{' {
		return r.envelope(o, line, depth)
	}
	if o.kind("__import_meta") == '{' && c.observed == nil { // 4CAT keeps the envelope here
		c.observed = written(o.sub("__import_meta"))
	}
	if row := r.notionRow(o); row != nil && depth < maxDepth && (r.objects == nil || r.objects.inferred || r.objects.fits(o.within(row))) {
		r.out.report.form("pages of Notion, by their properties: when and by whom a page was made, and its relations, are not read")
		c.listed = true
		return r.value(row, c, line, depth+1)
	}
	form := r.table.detect(o)
	if r.options.check && r.objects != nil {
		// A map is for what is in no known form. All is well once each of its paths was found.
		if form != nil && r.options.Format != Mapped {
			r.objects, r.ended = nil, true
			return nil
		}
		r.ended = r.objects.look(o)
	}
	if r.maps(o, form) {
		return r.objects.object(r.tables, o, c.key, line)
	}
	if form == nil && c.list != nil && c.list.platform() != "" && r.table.named(YTDLP, o) == nil && o.has("id") {
		form = r.table.byName(YTDLP) // an entry that leaves the rest to its playlist
	}
	if form == nil || o.kind("entries") == '[' {
		found, err := r.inside(o, c, line, depth)
		if found || err != nil {
			return err
		}
	}
	if forced := r.options.Format; forced != "" && c.format != forced {
		form = r.table.named(forced, o)
	}
	if form == nil || form.read == nil {
		return r.unknown(o, c, line)
	}
	d := draft{now: r.options.Now, sample: r.options.Sample, scope: c, words: r.tables.words}
	if err := form.read(&d, o); err != nil {
		var known *fault
		if !errors.As(err, &known) {
			known = &fault{Malformed, err.Error()}
		}
		r.out.skip(known.reason, line, known.detail)
		return nil
	}
	if r.rounded && d.rec.Platform == "tiktok" && strings.HasSuffix(d.rec.ExternalID, "00") {
		r.out.skip(NoID, line, "a program has rounded the ids, as JavaScript does with numbers, all end in zeros: export them as text")
		return nil
	}
	if !d.counted() && d.doubtful+len(d.misread) == 0 && r.options.Format == "" && c.format == "" && r.countsElsewhere(o) {
		if r.objects.fits(o) {
			return r.objects.object(r.tables, o, c.key, line)
		}
		return r.unknown(o, c, line)
	}
	if d.kindless {
		r.out.report.formOnce(kindless, "")
	}
	c.key.fill(r.out, &d.rec)
	name := form.Name
	if c.format != "" {
		name = c.format
	}
	return r.out.draft(&d, name, line)
}

// countsElsewhere reports counts under names that a form does not read: the object only looks like it.
func (r *reading) countsElsewhere(o *object) (found bool) {
	flatten(o, "", 0, func(path, value string) {
		if found || value == "" || !allDigits(value) {
			return
		}
		m, known := r.tables.words().of(path)
		found = known && slices.Contains(countFields[:5], m.field)
	})
	return found
}

// maps reports whether the column map reads an object: one in no format that has a mark
// of its own, and that is no list of videos.
func (r *reading) maps(o *object, form *format) bool {
	forced := r.options.Format
	return r.objects.fits(o) && (forced == Mapped || forced == "" && form == nil) &&
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
		if o.kind(name) == '{' && (name != "fields" || o.has("id", "createdTime")) {
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

// errorCode is the name or the number of an error, which holds no secret as its message may.
var errorCode = lazy.Pattern(`^[A-Za-z0-9_.-]{2,40}$`)

// errorWord is what an answer calls its error; empty without a word for it.
func errorWord(o *object) string {
	for path := range strings.FieldsSeq("error.errors.0.reason error.status error.type error.code error.name error code") {
		if word := string(o.text(path)); errorCode().MatchString(word) {
			return ": " + word
		}
	}
	return ""
}

// inside looks for videos in an object that is none itself: in the members that are known to
// hold them, then anywhere. It reports whether the object is dealt with.
func (r *reading) inside(o *object, c scope, line, depth int) (found bool, err error) {
	if c.quiet && o.kind("error") != 0 && len(o.members) < 4 {
		return true, nil
	}
	switch archive := ownArchive(o); {
	case archive != "":
		for _, post := range ownPosts(o, r.options.Now) {
			if err := r.out.draft(&post, TikTokArchive, line); err != nil {
				return true, err
			}
		}
		r.out.skip(OwnArchive, line, archive)
		return true, nil
	case isError(o):
		r.out.skip(ErrorAnswer, line, "an error instead of a video"+errorWord(o))
		return true, nil
	}
	if (!c.quiet || c.listed) && r.tables.ownViews(o) {
		return false, nil // what is inside is of other videos
	}
	if joined := r.tables.joined(o); joined != nil && depth < maxDepth {
		r.out.report.formOnce("lists of the same videos, joined by their ids", "")
		return true, r.value(joined, c, line, depth+1)
	}
	before := r.taken()
	rows := o.columnwise()
	for _, table := range []func(*object) [][]byte{r.byColumn, r.keyed, r.numbered} {
		if rows == nil {
			if rows = table(o); rows != nil {
				c.listed = true
			}
		}
	}
	if rows != nil && depth < maxDepth {
		for _, row := range rows {
			if err := r.value(row, c, line, depth+1); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	names, members := holds(o), o.inOrder()
	if owner := o.text("username"); owner != "" {
		c.owner = string(owner)
	}
	account := o.any("followers_count", "media_count", "follower_count", "followersCount") && readLink(o.first("video_url url")).kind != videoLink
	raw := o.raw // the object is used again for what is inside
	if !c.quiet && len(names) > 0 && !slices.ContainsFunc(sortedKeys(o.members), func(name string) bool {
		return o.kind(name) == '{' || o.kind(name) == '[' && (!slices.Contains(names, name) || len(o.values(name)) > 0)
	}) {
		r.out.skip(Empty, line, "a list without entries: there are no videos in it")
		return true, nil
	}
	if depth < maxDepth && len(names) > 0 {
		if err := r.nested(raw, members, func(name string) bool { return slices.Contains(names, name) }, c, line, depth); err != nil {
			return true, err
		}
		if r.taken() > before {
			return true, nil
		}
	}
	if depth < maxSearch && !r.ended {
		anywhere := c
		anywhere.quiet = true
		if err := r.nested(raw, members, func(name string) bool { return depth >= maxDepth || !slices.Contains(names, name) }, anywhere, line, depth); err != nil {
			return true, err
		}
	}
	switch {
	case r.taken() > before:
		return true, nil
	case account && !c.quiet:
		r.out.skip(NotVideo, line, "an account")
		return true, nil
	}
	return c.quiet && (!c.listed || len(names) > 0), nil
}

// maxSearch is how deep videos are looked for: those of a page of YouTube are 26 deep.
const maxSearch = 32

// taken counts what was read or recognised so far.
func (r *reading) taken() int {
	n := r.out.report.Videos + len(r.pending)
	for _, skip := range r.out.report.Skips {
		n += skip.Count
	}
	return n
}

// member is one of an object, with its place in the object's text.
type member struct {
	name  string
	value []byte
	at    int
}

// inOrder are the members that are objects or lists, as they follow each other.
func (o *object) inOrder() (all []member) {
	for name, value := range o.members {
		at := cap(o.raw) - cap(value)
		if len(value) > 100 && (value[1] == '{' || value[1] == '[') && value.Kind() == '"' { // JSON in a text, as in a HAR
			if inner := jsontext.Value(textOf(value)); inner.IsValid(lenient) {
				value = inner
			}
		}
		if kind := value.Kind(); kind == '{' || kind == '[' {
			all = append(all, member{name, value, at})
		}
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.at, b.at) })
	return all
}

// nested takes the videos in some members of an object in memory.
func (r *reading) nested(raw []byte, members []member, wanted func(string) bool, c scope, line, depth int) error {
	rest := properties{}
	o, err := r.parser.parse(raw)
	if err == nil {
		c.table = o.columnNames()
	}
	if err == nil && !c.quiet {
		for name, value := range o.members {
			if kind := value.Kind(); kind != '[' && kind != '{' {
				rest.raw(name, value)
			}
		}
	}
	asTables := r.namedAsTables(members)
	if err != nil || len(asTables) > 0 && r.tables.countsViews(o) { // it may be one video, and its lists of others
		asTables = nil
	}
	creators := creatorsOf(members, r.out.path, func(name string) bool {
		_, known := r.tables.words().of(name)
		return known || mayList(name)
	})
	for _, m := range members {
		if !wanted(m.name) {
			continue
		}
		inner, at := c, line+bytes.Count(raw[:min(m.at, len(raw))], []byte("\n"))
		inner.business = inner.business || m.name == "business_discovery"
		inner.listed = m.value[0] == '[' && mayList(m.name) || c.listed && m.value[0] == '{' && slices.Contains(nestNames, m.name)
		inner.listed = inner.listed || asTables[m.name]
		inner.viewed = !slices.Contains(listNames, m.name) && (inner.listed || c.viewed)
		if key, ok := creators[m.name]; ok {
			inner.key = key
			if m.value[0] == '[' && !inner.listed {
				inner.listed, inner.viewed = true, true
			}
		} else if !plainPlace(m.name) {
			inner.key = creatorKey{}
		}
		if inner.key.handle != "" && m.value[0] == '[' && r.namesOthers(m.value, inner.key.handle) {
			r.out.report.formOnce("a name of a member is not taken for the creator where a video in its list names another one", ": %q", inner.key.handle)
			inner.key = creatorKey{}
		}
		r.out.path = append(r.out.path, m.name)
		var err error
		if m.value[0] == '[' {
			if !c.quiet {
				inner = inner.inside(rest.whole())
			}
			err = r.list(newFrames(bytes.NewReader(m.value), at, documentLimit), inner, depth+1)
		} else {
			err = r.value(m.value, inner, at, depth+1)
		}
		r.out.path = r.out.path[:len(r.out.path)-1]
		if err != nil {
			return err
		}
	}
	return nil
}

// place is where in a JSON file the present object is. Ids as names are one place.
func (r *results) place() string {
	if len(r.path) == 0 {
		return ""
	}
	parts := slices.Clone(r.path)
	for i, part := range parts {
		if len(part) > 5 && strings.Trim(part, "0123456789_") == "" || len(part) > 60 {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// envelope reads the item that Zeeschuimer captured from a page.
func (r *reading) envelope(o *object, line, depth int) error {
	platform := strings.ToLower(string(o.text("source_platform")))
	switch forced := r.options.Format; {
	case forced != "" && forced != Zeeschuimer:
		r.out.skip(UnknownForm, line, "an envelope of Zeeschuimer")
	case platform != "tiktok.com" && platform != "instagram.com":
		r.out.skip(OtherPlatform, line, "captured on a platform that is not read")
	case depth >= maxDepth:
		r.out.skip(Malformed, line, "envelopes in envelopes")
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
