package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a confined process may not find the system's zones

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Map says how the columns of a CSV file, or the members of JSON objects in no known
// format, become videos. A column of JSON is a path, such as `stats.views`. It is JSON, in
// `<file>.csv.map.json` or `feed.map.json` beside the file or in a folder above
// it, or in the setting csv_map. Without a map, columns of CSV that are named as the
// fields are taken.
type Map struct {
	// Columns gives the column of each field. The fields are platform,
	// externalId, sourceUrl, postedAt, creatorId, handle, kind, seededBy,
	// caption, title, hashtags, soundId, soundTitle, durationSeconds, language,
	// views, likes, comments, shares, saves, observedAt, semantics,
	// followers, spoken, onScreenText and visual.
	Columns map[string]string `json:"columns"`
	// Constants gives fields one value for the whole file; a column that holds
	// something goes before it.
	Constants map[string]string `json:"constants"`
	// Metadata keeps more columns, as text, under the property named.
	Metadata map[string]string `json:"metadata"`
	// SourceURL builds missing addresses from {platform}, {externalId}, {handle}.
	SourceURL string `json:"sourceUrl"`
	// TimeLayouts are tried in order, in Go's notation, before the usual ISO 8601
	// forms. Whole numbers are Unix seconds, or milliseconds from 10^11 on.
	TimeLayouts []string `json:"timeLayouts"`
	// TimeZone is of times that name none; UTC by default.
	TimeZone string `json:"timeZone"`
	// DurationUnit is of plain numbers: `seconds` (default), `milliseconds` or
	// `minutes`. ISO 8601 (PT1M28S) and m:ss are known by their form.
	DurationUnit string `json:"durationUnit"`
	// HashtagsFrom is `caption` (default: caption and title, where no column
	// gives hashtags) or `none`.
	HashtagsFrom string `json:"hashtagsFrom"`
	// Delimiter is `,` by default; tab for .tsv files.
	Delimiter string `json:"delimiter"`
	Filter    Filter `json:"filter"`

	zone *time.Location
}

// Filter leaves rows out of a CSV file. A length of 0 is unknown (a live stream),
// and an unknown length passes neither bound.
type Filter struct {
	MinDurationSeconds *float64 `json:"minDurationSeconds"`
	MaxDurationSeconds *float64 `json:"maxDurationSeconds"`
	// Equals keeps rows whose column holds one of the values.
	Equals map[string][]string `json:"equals"`
}

var fields = []string{
	"platform", "externalId", "sourceUrl", "postedAt", "creatorId", "handle", "kind", "seededBy",
	"caption", "title", "hashtags", "soundId", "soundTitle", "durationSeconds", "language",
	"views", "likes", "comments", "shares", "saves", "observedAt", "semantics", "followers",
	"spoken", "onScreenText", "visual",
}

// ParseMap reads and checks a column map; all its faults are reported at once.
func ParseMap(text []byte) (*Map, error) {
	var m Map
	if err := jsonx.Unmarshal(text, &m, jsonx.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("column map: %w", err)
	}
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("column map: "+format, args...))
		}
	}
	for _, named := range []map[string]string{m.Columns, m.Constants} {
		for field := range named {
			add(!slices.Contains(fields, field), "no field %q", field)
		}
	}
	for _, field := range []string{"platform", "externalId"} {
		add(m.Columns[field] == "" && m.Constants[field] == "", "no column for %s", field)
	}
	var err error
	m.zone, err = time.LoadLocation(m.TimeZone)
	add(err != nil, "timeZone: %v", err)
	add(!slices.Contains([]string{"", "seconds", "milliseconds", "minutes"}, m.DurationUnit), "durationUnit %q", m.DurationUnit)
	add(!slices.Contains([]string{"", "caption", "none"}, m.HashtagsFrom), "hashtagsFrom %q", m.HashtagsFrom)
	add(len(m.Delimiter) > 1 || m.Delimiter == `"` || m.Delimiter == "\n", "delimiter %q", m.Delimiter)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &m, nil
}

// plainMap takes the columns that are named as the fields.
func plainMap(header []string) *Map {
	m := &Map{Columns: map[string]string{}, zone: time.UTC}
	for _, column := range header {
		for _, field := range fields {
			if strings.EqualFold(column, field) {
				m.Columns[field] = column
			}
		}
	}
	return m
}

// findMap gives the map of a CSV file: the one beside it, in a folder above it,
// or of the options; nil where there is none.
func (r *reading) findMap(name string) (*Map, error) {
	if r.files == nil || (r.options.MapFirst && r.options.Map != nil) {
		return r.options.Map, nil
	}
	places := []string{name + ".map.json", strings.TrimSuffix(name, ".gz") + ".map.json"}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		places = append(places, path.Join(dir, "feed.map.json"))
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, place := range places {
		text, err := fs.ReadFile(r.files, place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return ParseMap(text)
	}
	return r.options.Map, nil
}

// objectTable is a column map laid over JSON objects.
type objectTable struct {
	*rowTable
	paths []string
}

// layObjects finds the map of a JSON file. Without one, r.objects is nil.
func (r *reading) layObjects(name string) error {
	r.objects = nil
	m, err := r.findMap(name)
	if m == nil || err != nil {
		return err
	}
	columns := map[string]bool{}
	for _, named := range []map[string]string{m.Columns, m.Metadata} {
		for _, column := range named {
			columns[column] = true
		}
	}
	for column := range m.Filter.Equals {
		columns[column] = true
	}
	delete(columns, "")
	paths := slices.Sorted(maps.Keys(columns))
	head := make([][]byte, len(paths))
	for i, path := range paths {
		head[i] = []byte(path)
	}
	t, err := r.lay(m, head)
	if err != nil {
		return err
	}
	t.format = Mapped
	r.objects = &objectTable{rowTable: t, paths: paths}
	return nil
}

// fits reports whether an object has the id that the map names.
func (t *objectTable) fits(o *object) bool {
	return t != nil && cell(o, t.Columns["externalId"]) != nil
}

// object takes one object; the error is emit's.
func (t *objectTable) object(r *reading, o *object, line int) error {
	t.row = t.row[:0]
	for _, path := range t.paths {
		t.row = append(t.row, cell(o, path))
	}
	return r.row(t.rowTable, line)
}

// cell is the text of a member: a list of texts is joined by commas, and an object is
// its JSON. Nil is a member that is missing or null. A member whose own name has dots
// goes before a path.
func cell(o *object, path string) []byte {
	value, ok := o.members[path]
	if !ok {
		value = o.at(path)
	}
	switch value.Kind() {
	case 0, 'n':
		return nil
	case '"':
		return []byte(textOf(value))
	case '[':
		var parts []string
		_ = o.each(value, func(_ string, value jsontext.Value) { parts = append(parts, string(textOf(value))) }) // valid, as what it is in
		return []byte(strings.Join(parts, ","))
	}
	return value
}
