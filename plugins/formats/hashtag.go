package formats

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Hashtags are the tags of a caption without their #, in order and once each
// whatever their case. A tag is a run of letters, marks, digits and underscores
// of any script that holds more than digits. It may follow a word directly, as
// creators who are short of characters write it, but not in an address (`/page#part`) or a
// character reference (`&#x27;`).
func Hashtags(caption string) []string {
	if !strings.ContainsAny(caption, "#＃") {
		return nil
	}
	var tags []string
	seen := map[string]bool{}
	inside, address := false, false
	var tag strings.Builder
	end := func() {
		if text := tag.String(); inside && wordy(text) && !seen[strings.ToLower(text)] {
			seen[strings.ToLower(text)] = true
			tags = append(tags, text)
		}
		inside = false
		tag.Reset()
	}
	for _, r := range caption {
		switch {
		case r == '#' || r == '＃':
			end()
			inside = !address
		case tagRune(r):
			if inside {
				tag.WriteRune(r)
			}
		default:
			end()
			address = !unicode.IsSpace(r) && (address || r == '/' || r == '&')
		}
	}
	end()
	return tags
}

func tagRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// wordy reports whether a tag is more than a number such as #1.
func wordy(tag string) bool {
	return strings.ContainsFunc(tag, unicode.IsLetter)
}

// listedTags reads a column of hashtags: JSON or Python lists, or tags between
// spaces, commas, semicolons or bars, with or without #.
func listedTags(text string) []string {
	var tags []string
	seen := map[string]bool{}
	if strings.HasPrefix(text, "[{") {
		text = namesIn(text)
	}
	if list, ok := strings.CutPrefix(text, "c("); ok { // as R prints a list
		text = strings.TrimSuffix(list, ")")
	} else if text == "character(0)" || text == "list()" || hiddenWords[strings.ToLower(text)] {
		return nil
	}
	for _, tag := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`,;|[]'"#＃`, r)
	}) {
		if key := strings.ToLower(tag); !seen[key] {
			seen[key] = true
			tags = append(tags, tag)
		}
	}
	return tags
}

// namesIn are the names of the objects in a list, in JSON or as Python prints it.
func namesIn(text string) string {
	for _, raw := range [][]byte{[]byte(text), pythonJSON([]byte(text))} {
		if list := jsontext.Value(raw); list.IsValid(lenient) {
			var outer properties
			outer.raw("list", list)
			p := newParser()
			if o, err := p.parse(outer.whole()); err == nil {
				return string(cell(o, "list"))
			}
		}
	}
	return text
}

// namedBy is the name that an object in a list has.
func namedBy(raw jsontext.Value) string {
	p := newParser()
	o, err := p.parse(raw)
	if err != nil {
		return ""
	}
	if len(o.members) == 1 && o.kind("node") == '{' {
		o = o.sub("node")
	}
	return o.first("name hashtagName hashtag_name title tag text username")
}
