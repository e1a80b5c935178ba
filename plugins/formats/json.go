package formats

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// documentLimit is the largest single value of a JSON file that is held at once:
// a video's info JSON with all its formats fits many times over.
const documentLimit = 32 << 20

// lenient takes what exports have in them: names given twice, the last in force.
var lenient = jsontext.AllowDuplicateNames(true)

func (r *reading) json(in *bufio.Reader, named bool) error {
	start, err := in.Peek(sniffed)
	byLine, flat := sniff(named, start, err != nil)
	r.rounded = roundedNumbers(start)
	if byLine {
		return r.jsonLines(in)
	}
	if one := inOne(r, start, err != nil); one != nil {
		return r.value(bytes.Clone(one), scope{}, 1, 0)
	}
	f := newFrames(in, 1, documentLimit)
	f.flat = flat
	return r.document(f)
}

// longNumber is an id of TikTok in JSON.
var longNumber = lazy.Pattern(`"(?:id|aweme_id|item_id|video_id|videoId)"\s*:\s*"?(\d{17,20})\b`)

// roundedNumbers reports a file whose ids a program in JavaScript has rounded: all of the first end in zeros.
func roundedNumbers(start []byte) bool {
	const enough = 64 << 10
	var ids []string
	for _, parts := range longNumber().FindAllSubmatch(start[:min(len(start), enough)], maxSampleRows) {
		ids = append(ids, string(parts[1]))
	}
	return roundedIDs(ids)
}

// jsonLines reads one value a line. A list with one value a line is read alike.
func (r *reading) jsonLines(in *bufio.Reader) error {
	lines := newLines(in, r.lineLimit())
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			r.out.skip(TooLong, lines.number, "a line of more than the limit")
			continue
		case err != nil:
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || (lines.number == 1 && string(line) == "[") || (!lines.ended && string(line) == "]") {
			continue
		}
		if string(line) == "]" {
			if _, err := in.Peek(1); err != nil {
				continue
			}
		}
		line = bytes.TrimSuffix(line, []byte(","))
		if err := r.line(line, lines.number, !lines.ended); err != nil || r.ended {
			return err
		}
	}
}

// line takes one line; last says that nothing ends it but the file.
func (r *reading) line(line []byte, number int, last bool) error {
	value := jsontext.Value(cleanJSON(line))
	kind := value.Kind()
	if kind == '"' {
		if inner := objectInText(string(textOf(value))); inner != nil {
			return r.value(inner, scope{}, number, 0)
		}
	}
	switch {
	case kind != '{' && kind != '[':
		r.out.skip(Malformed, number, "no JSON object")
		return nil
	case kind == '[' && value.IsValid(lenient) && len(bytes.Trim(value, "[] \t")) > 0:
		return r.listIn(newFrames(bytes.NewReader(value), number, documentLimit), scope{}, 1, &r.lines, &listTable{})
	case kind == '[':
		r.out.skip(Malformed, number, "a list instead of an object")
		return nil
	case last && !value.IsValid(lenient):
		r.out.skip(Truncated, number, "the file ends in the middle of it")
		return nil
	}
	return r.value(value, scope{}, number, 0)
}

// document reads JSON as it comes: values one after another, lists of them, and
// objects that hold lists. What is damaged costs itself; see [frames].
func (r *reading) document(f *frames) error {
	for {
		next, err := f.peek()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, lead := f.line, f.lead
		switch next {
		case '{':
			err = r.object(f, scope{})
		case '[':
			err = r.list(f, scope{}, 0)
		case ',':
			f.skip()
		default:
			if _, err = f.value(); err == nil {
				r.out.skip(Malformed, line, "no JSON object")
			}
		}
		if err = r.recover(f, err, line, lead); err != nil || r.ended {
			return err
		}
	}
}

// recover counts a value that could not be framed and goes on behind it; any other
// error is returned. At the end of the file it sets r.ended.
func (r *reading) recover(f *frames, err error, line, lead int) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLong):
		r.out.skip(TooLong, line, "a value of more than the limit")
		return nil
	case errors.Is(err, errCut):
		r.out.skip(Truncated, line, errCut.Error())
		r.ended = true
		return nil
	case errors.Is(err, errBroken):
		r.out.skip(Malformed, line, errBroken.Error())
		found, err := f.resync(lead)
		if !found && errors.Is(err, io.EOF) {
			r.ended = true
			return nil
		}
		return err
	}
	return err
}

// listNames are the members that hold lists of videos.
var listNames = []string{"entries", "items", "videos", "data", "itemList", "latestPosts", "aweme_list", "results", "posts"}

// nestNames are the members under which an object holds the list, or one video; fields are those
// of a row of Airtable, whose id and time are its own.
var nestNames = []string{"data", "business_discovery", "media", "node", "_source", "itemInfo", "itemStruct", "fields"}

// deepNames end the names of lists whose objects, in no known form, may be videos too, if they have views.
var deepNames = wordSet("streams result hits edges nodes docs documents rows records list reels shorts tiktoks output results videos posts items entries data")

// mayList reports the name of a list that may be one of videos.
func mayList(name string) bool {
	tokens := nameTokens(name)
	return slices.Contains(listNames, name) || len(tokens) > 0 && deepNames[tokens[len(tokens)-1]]
}

// object reads an object member by member, so that a list in it streams; what
// is before the list is inherited by what is in it.
func (r *reading) object(f *frames, c scope) error {
	line := f.line
	f.skip()
	var rest properties
	listed, repaired := false, map[string]bool{}
	for {
		next, err := f.peek()
		if err != nil {
			return cut(err)
		}
		if next == '}' {
			f.skip()
			break
		}
		if next == ',' {
			f.skip()
			continue
		}
		if next != '"' || f.fresh() {
			return errBroken
		}
		name, err := f.name()
		if err != nil {
			return err
		}
		next, err = f.peek()
		if err != nil {
			return cut(err)
		}
		if f.fresh() {
			return errBroken
		}
		if next == '[' && slices.Contains(listNames, name) {
			listed = true
			inner := c.inside(rest.whole())
			if o, err := r.parser.parse(rest.whole()); err == nil {
				inner.table = o.columnNames()
			}
			if err := r.list(f, inner, 0); err != nil || r.ended {
				return err
			}
			continue
		}
		raw, err := f.value()
		if err != nil {
			return cut(err)
		}
		if len(rest.body)+len(raw) > documentLimit {
			return errLong
		}
		if strings.ContainsRune(name, utf8.RuneError) {
			if repaired[name] { // another name has become the same
				continue
			}
			repaired[name] = true
		}
		rest.raw(name, cleanJSON(raw))
	}
	if listed {
		sayLeft(r, rest.whole())
		return nil
	}
	return r.value(rest.whole(), c, line, 0)
}

// name gives a member's name and takes the colon behind it.
func (f *frames) name() (string, error) {
	raw, err := f.value()
	if err != nil {
		return "", cut(err)
	}
	var name text
	if jsonx.Unmarshal(cleanJSON(raw), &name) != nil {
		return "", errBroken
	}
	switch next, err := f.peek(); {
	case err != nil:
		return "", cut(err)
	case next != ':':
		return "", errBroken
	}
	f.skip()
	return string(name), nil
}

// maxDepth is how deep lists of videos may be nested.
const maxDepth = 8

// list reads the values of a list.
func (r *reading) list(f *frames, c scope, depth int) error {
	table := c.table
	if table == nil {
		table = &listTable{}
	}
	c.table = nil
	return r.listIn(f, c, depth, nil, table)
}

// listIn reads the values of a list. A list of plain values in another one is a row of a table.
func (r *reading) listIn(f *frames, c scope, depth int, in, table *listTable) error {
	f.skip()
	var cells [][]byte
	from := f.line
	for {
		next, err := f.peek()
		if err != nil {
			return cut(err)
		}
		switch next {
		case ']':
			f.skip()
			if cells != nil {
				return r.listRow(cells, in, c, from, depth)
			}
			return nil
		case ',':
			f.skip()
			continue
		}
		line, lead := f.line, f.lead
		if in != nil && (cells != nil || next != '{' && next != '[') {
			var raw []byte
			if raw, err = f.value(); err == nil && len(cells) < maxColumns {
				cells = append(cells, bytes.Clone(cleanJSON(raw)))
			}
		} else if next == '[' && depth < maxDepth {
			err = r.listIn(f, c, depth+1, table, &listTable{})
		} else {
			var raw []byte
			if raw, err = f.value(); err == nil {
				err = r.element(cleanJSON(raw), c, line, depth)
			}
		}
		if err = r.recover(f, err, line, lead); err != nil || r.ended {
			return err
		}
	}
}

// objectInText is the object that a text is in JSON, as a program writes it that encodes twice; nil without one.
func objectInText(text string) []byte {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	if inner := jsontext.Value(text); inner.IsValid(lenient) {
		return inner
	}
	return nil
}

func (r *reading) element(raw []byte, c scope, line, depth int) error {
	switch jsontext.Value(raw).Kind() {
	case '{':
		return r.value(raw, c, line, depth)
	case '[':
		if c.quiet && depth < maxSearch {
			return r.list(newFrames(bytes.NewReader(raw), line, documentLimit), c, depth+1)
		}
		r.out.skip(Malformed, line, "no JSON object")
	case 'n':
		if c.quiet {
			return nil
		}
		r.out.skip(Unavailable, line, "an empty entry")
	default:
		text := string(textOf(raw))
		if !c.quiet && readLink(text).kind == videoLink { // a list of addresses
			var row properties
			row.text("link", text)
			return r.value(row.whole(), c, line, depth)
		}
		if inner := objectInText(text); inner != nil && depth < maxSearch {
			return r.value(inner, c, line, depth+1)
		}
		if !c.quiet {
			r.out.skip(Malformed, line, "no JSON object")
		}
	}
	return nil
}
