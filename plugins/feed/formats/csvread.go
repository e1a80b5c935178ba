package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// rowTable is a column map laid over the header of one file.
type rowTable struct {
	*Map
	format Format
	// at is the place of each field's column.
	at map[string]int
	// extra and equal are the places of further columns.
	extra []place
	equal []wanted
	row   [][]byte
}

type place struct {
	name   string
	column int
}

type wanted struct {
	name   string
	values []string
	column int
}

func (r *reading) csv(in io.Reader, name string) error {
	m, err := r.findMap(name)
	if err != nil {
		return err
	}
	comma := byte(',')
	if strings.HasSuffix(strings.TrimSuffix(strings.ToLower(path.Base(name)), ".gz"), ".tsv") {
		comma = '\t'
	}
	if m != nil && m.Delimiter != "" {
		comma = m.Delimiter[0]
	}
	rows := newRows(in, comma, LineLimit)
	head, err := rows.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	t, err := r.lay(m, head)
	if err != nil {
		return err
	}
	for {
		row, err := rows.next()
		for _, line := range rows.long {
			r.skip(TooLong, line, "a row of more than the limit, or a quote that is never closed")
		}
		rows.long = nil
		var bad *fieldError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			r.skip(Malformed, rows.line, err.Error())
			continue
		case err != nil:
			return err
		case len(row) != len(head):
			r.skip(Malformed, rows.line, fmt.Sprintf("%d fields under %d columns", len(row), len(head)))
			continue
		}
		t.row = row
		if err := r.row(t, rows.line); err != nil {
			return err
		}
	}
}

func (r *reading) lay(m *Map, head [][]byte) (*rowTable, error) {
	header := make([]string, len(head))
	for i, name := range head {
		header[i] = strings.TrimSpace(cleanText(string(name)))
	}
	if m == nil {
		m = plainMap(header)
	}
	t := &rowTable{Map: m, format: CSV, at: map[string]int{}}
	find := func(column string) int {
		at := slices.Index(header, column)
		if at < 0 {
			r.report.note("%s: no column %q", r.name, column)
		}
		return at
	}
	for _, field := range fields {
		if column := m.Columns[field]; column != "" {
			if at := find(column); at >= 0 {
				t.at[field] = at
			}
		}
	}
	for _, field := range []string{"platform", "externalId"} {
		if _, ok := t.at[field]; !ok && m.Constants[field] == "" {
			return nil, fmt.Errorf("no column for %s: a column map is needed", field)
		}
	}
	for _, property := range slices.Sorted(maps.Keys(m.Metadata)) {
		if at := find(m.Metadata[property]); at >= 0 {
			t.extra = append(t.extra, place{property, at})
		}
	}
	for _, column := range slices.Sorted(maps.Keys(m.Filter.Equals)) {
		at := find(column)
		if at < 0 {
			return nil, fmt.Errorf("no column %q for the filter", column)
		}
		t.equal = append(t.equal, wanted{column, m.Filter.Equals[column], at})
	}
	return t, nil
}

// text is a field of the present row, or its constant.
func (t *rowTable) text(field string) string {
	if at, ok := t.at[field]; ok && len(t.row[at]) > 0 {
		return cleanText(string(t.row[at]))
	}
	return t.Constants[field]
}

// row takes one row; the error is emit's.
func (r *reading) row(t *rowTable, line int) error {
	for _, want := range t.equal {
		if !slices.Contains(want.values, string(t.row[want.column])) {
			r.skip(Filtered, line, fmt.Sprintf("%s: not one of the values of the map's filter", want.name))
			return nil
		}
	}
	length, known := parseDuration(t.text("durationSeconds"), t.DurationUnit)
	filter := t.Filter
	if (filter.MaxDurationSeconds != nil && (!known || length > *filter.MaxDurationSeconds)) ||
		(filter.MinDurationSeconds != nil && (!known || length < *filter.MinDurationSeconds)) {
		r.skip(Filtered, line, "durationSeconds: unknown, or outside the bounds of the map's filter")
		return nil
	}
	rec := stage.Record{Ref: stage.Ref{Platform: platformName(t.text("platform")), ExternalID: strings.TrimSpace(t.text("externalId"))}}
	switch {
	case rec.Platform == "":
		r.skip(NoID, line, fmt.Sprintf("platform: %.20q is missing or cannot name one", t.text("platform")))
		return nil
	case !usableID(rec.ExternalID):
		r.skip(NoID, line, fmt.Sprintf("externalId: %.20q is missing or cannot name a video", rec.ExternalID))
		return nil
	}
	r.fill(t, &rec)
	rec.Metadata = t.metadata(length, known)
	return r.take(rec, t.format, line)
}

func (r *reading) fill(t *rowTable, rec *stage.Record) {
	count := func(field string) *int64 {
		n := parseNumber(t.text(field))
		if n.bad {
			r.report.Doubtful++
		}
		return n.value
	}
	moment := func(field string) *int64 {
		text := t.text(field)
		at, dated, ok := t.time(text)
		if !ok {
			if text != "" {
				r.report.Doubtful++
			}
			return nil
		}
		if dated && field == "postedAt" {
			return exactly(rec.Ref, &at)
		}
		return &at
	}
	rec.PostedAt = moment("postedAt")
	rec.CreatorID = t.text("creatorId")
	if handle, kind, by := t.text("handle"), t.text("kind"), t.text("seededBy"); handle+kind+by != "" {
		rec.Source = &stage.Source{Handle: handle, Kind: kind, SeededBy: by}
	}
	rec.SourceURL = webAddress(t.text("sourceUrl"))
	if rec.SourceURL == "" && t.SourceURL != "" {
		rec.SourceURL = webAddress(t.address(rec.Ref))
	}
	rec.Metrics = stage.Metrics{
		Views: count("views"), Likes: count("likes"), Comments: count("comments"), Shares: count("shares"), Saves: count("saves"),
		ObservedAt: moment("observedAt"), Semantics: t.text("semantics"), Followers: count("followers"),
	}
	rec.Evidence = t.evidence()
}

// address fills the names in the map's address.
func (t *rowTable) address(ref stage.Ref) string {
	out := t.SourceURL
	for name, value := range map[string]string{
		"{platform}": ref.Platform, "{externalId}": url.PathEscape(ref.ExternalID), "{handle}": url.PathEscape(strings.TrimPrefix(t.text("handle"), "@")),
	} {
		out = strings.ReplaceAll(out, name, value)
	}
	return out
}

func (t *rowTable) evidence() *stage.Evidence {
	var e stage.Evidence
	if spoken := t.text("spoken"); spoken != "" {
		e.Spoken = &spoken
	}
	if printed := t.text("onScreenText"); printed != "" {
		e.OnScreenText = &printed
	}
	if visual := t.text("visual"); visual != "" {
		if raw := jsontext.Value(visual); raw.IsValid() && (raw.Kind() == '{' || raw.Kind() == '"') {
			e.Visual = json.RawMessage(raw)
		} else {
			e.Visual = quote(nil, visual)
		}
	}
	if e.Spoken == nil && e.OnScreenText == nil && e.Visual == nil {
		return nil
	}
	return &e
}

func (t *rowTable) metadata(length float64, known bool) json.RawMessage {
	var out properties
	caption, title := t.text("caption"), t.text("title")
	_, given := t.at["caption"]
	if given || caption != "" {
		out.raw("caption", quote(nil, caption)) // an empty caption is known to be empty
	}
	out.text("title", title)
	tags := listedTags(t.text("hashtags"))
	if _, given := t.at["hashtags"]; !given && len(tags) == 0 && t.HashtagsFrom != "none" {
		tags = Hashtags(caption + "\n" + title)
	}
	out.list("hashtags", tags)
	out.text("soundId", t.text("soundId"))
	out.text("soundTitle", t.text("soundTitle"))
	if known {
		out.number("durationSeconds", length)
	}
	out.text("language", t.text("language"))
	for _, extra := range t.extra {
		out.text(extra.name, cleanText(string(t.row[extra.column])))
	}
	return out.object()
}
