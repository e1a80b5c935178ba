package formats

import (
	"errors"
	"fmt"
	"io"
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
	Columns map[string]string `json:"columns,omitempty"`
	// Constants gives fields one value for the whole file; a column that holds
	// something goes before it.
	Constants map[string]string `json:"constants,omitempty"`
	// Metadata keeps more columns, as text, under the property named.
	Metadata map[string]string `json:"metadata,omitempty"`
	// SourceURL builds missing addresses from {platform}, {externalId}, {handle}.
	SourceURL string `json:"sourceUrl,omitempty"`
	// TimeLayouts are tried in order, in Go's notation, before the usual ISO 8601
	// forms. Whole numbers are Unix seconds, or milliseconds from 10^11 on.
	TimeLayouts []string `json:"timeLayouts,omitempty"`
	// TimeZone is of times that name none; UTC by default.
	TimeZone string `json:"timeZone,omitempty"`
	// DurationUnit is of plain numbers: `seconds` (default), `milliseconds` or
	// `minutes`. ISO 8601 (PT1M28S) and m:ss are known by their form.
	DurationUnit string `json:"durationUnit,omitempty"`
	// HashtagsFrom is `caption` (default: caption and title, where no column
	// gives hashtags) or `none`.
	HashtagsFrom string `json:"hashtagsFrom,omitempty"`
	// Delimiter is `,` by default; tab for .tsv files.
	Delimiter string `json:"delimiter,omitempty"`
	Filter    Filter `json:"filter,omitzero"`

	zone *time.Location
}

// Filter leaves rows out of a CSV file. A length of 0 is unknown (a live stream),
// and an unknown length passes neither bound.
type Filter struct {
	MinDurationSeconds *float64 `json:"minDurationSeconds,omitempty"`
	MaxDurationSeconds *float64 `json:"maxDurationSeconds,omitempty"`
	// Equals keeps rows whose column holds one of the values.
	Equals map[string][]string `json:"equals,omitempty"`
}

var fields = []string{
	"platform", "externalId", "sourceUrl", "postedAt", "creatorId", "handle", "kind", "seededBy",
	"caption", "title", "hashtags", "soundId", "soundTitle", "durationSeconds", "language",
	"views", "likes", "comments", "shares", "saves", "observedAt", "semantics", "followers",
	"spoken", "onScreenText", "visual",
}

// Fields are the names that a column map gives columns or constants.
func Fields() []string { return slices.Clone(fields) }

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
	for _, field := range []string{"platform", "externalId"} { // an address names both
		add(m.Columns[field] == "" && m.Constants[field] == "" && m.Columns["sourceUrl"] == "", "no column for %s", field)
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

// findMap gives the map of a CSV file: the one beside it, in a folder above it,
// or of the options; nil if there is none.
func (r *tables) findMap(name string) (*Map, error) {
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
		text, err := readSmall(r.files, place)
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

// maxMap is how large a column map may be, in bytes.
const maxMap = 1 << 20

func readSmall(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxMap+1))
	if len(text) > maxMap {
		return nil, fmt.Errorf("%s: a column map of more than 1 MiB", name)
	}
	return text, err
}

// objectTable is a column map laid over JSON objects.
type objectTable struct {
	*rowTable
	paths []string
	// objects counts those that were read, and found is how many of them had each path.
	objects int
	found   []int
}

// layObjects finds the map of a JSON file. Without one, r.objects is nil.
func (r *reading) layObjects(name string) error {
	r.objects = nil
	m, err := r.tables.findMap(name)
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
	t, err := r.tables.lay(m, paths, nil)
	if err != nil {
		return err
	}
	t.format = Mapped
	r.objects = &objectTable{rowTable: t, paths: paths, found: make([]int, len(paths))}
	return nil
}

// fits reports whether an object has the id that the map names.
func (t *objectTable) fits(o *object) bool {
	return t != nil && (cell(o, t.Columns["externalId"]) != nil || cell(o, t.Columns["sourceUrl"]) != nil)
}

// object takes one object; the error is emit's.
func (t *objectTable) object(r *tables, o *object, key creatorKey, line int) error {
	t.row, t.line, t.under = t.row[:0], line, key
	t.objects++
	for i, path := range t.paths {
		text := cell(o, path)
		if t.row = append(t.row, text); text != nil && t.found != nil {
			t.found[i]++
		}
	}
	if t.spread != nil { // JSON in texts
		var broken []int
		t.row, broken = t.spread.row(t.row)
		for _, column := range broken {
			r.out.unread(t.header[column], line, string(t.row[column]))
		}
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
	if last := strings.LastIndexByte(path, '.'); value == nil && last > 0 {
		for _, count := range o.namedCounts(o.at(path[:last])) {
			if count.name == path[last+1:] {
				value = count.value
			}
		}
	}
	switch value.Kind() {
	case 0, 'n':
		return nil
	case '"':
		return []byte(textOf(value))
	case '[':
		if counts := o.values(path); len(counts) > 1 && !slices.ContainsFunc(counts, func(v jsontext.Value) bool { return v.Kind() != '0' }) {
			return value // divided by commas they would be one number
		}
		var parts []string
		_ = o.each(value, func(_ string, value jsontext.Value) { // valid, as what it is in
			if parts = append(parts, string(textOf(value))); value.Kind() == '{' {
				parts[len(parts)-1] = namedBy(value)
			}
		})
		return []byte(strings.Join(parts, ","))
	}
	return value
}

// look counts the paths of the map that an object has, also where they lead to null, and reports
// whether every one was found by now.
func (t *objectTable) look(o *object) (all bool) {
	t.objects++
	all = true
	for i, path := range t.paths {
		if o.kind(path) != 0 || o.at(path).Kind() != 0 {
			t.found[i]++
		}
		all = all && t.found[i] > 0
	}
	return all
}

// missing are the members that the map names and that no object had, in words.
func (t *objectTable) missing() string {
	if t == nil || t.objects == 0 || t.found == nil {
		return ""
	}
	var names []string
	for i, path := range t.paths {
		if t.found[i] == 0 {
			names = append(names, fmt.Sprintf("%q", path))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the map names " + strings.Join(names, ", ") + ", which no object has"
}
