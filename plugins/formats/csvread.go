package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// rowTable is a column map laid over the header of one file.
type rowTable struct {
	*Map
	format Format
	header []string
	// at is the place of each field's column, and of the meanings beside them.
	at map[string]int
	// numbers and times are how the columns of fields write theirs.
	numbers map[string]*numberStyle
	times   map[string]*timeStyle
	unit    string
	// rounded says that a spreadsheet has rounded the ids, and someRounded that it has some of them.
	rounded, someRounded bool
	words                *vocabulary
	// types are the columns that say what kind of post it is. inferred says that no map names
	// the columns, and named that the creator's one has display names.
	types           []int
	inferred, named bool
	// extra and equal are the places of further columns.
	extra []place
	equal []wanted

	// spread are the members of objects in cells; nil if no cell has one.
	spread *spread
	// other says that the rows are below a header with other columns.
	other bool
	// row is the present row, and link what its address names.
	row  [][]byte
	line int
	link link
	// under is the creator that the place of the present object names.
	under creatorKey
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

// rowSource gives the rows of a table one after another.
type rowSource interface {
	// next gives the next row, valid until the next call; [io.EOF] after the last. A
	// [fieldError] is that of one row.
	next() ([][]byte, error)
	// at is the line of the row given last, from 1.
	at() int
	// lost are the lines of rows that were too long, since the last call.
	lost() []int
}

// tableRows reads the rows below a header.
func (r *tables) tableRows(t *rowTable, source rowSource) error {
	for n := 0; ; n++ {
		row, err := source.next()
		for _, line := range source.lost() {
			r.out.skip(TooLong, line, "a row of more than the limit, or a quote that is never closed")
		}
		var bad *fieldError
		switch {
		case errors.Is(err, io.EOF):
			if n == 0 {
				r.out.skip(Empty, 0, "a header without rows: there are no videos in it")
			}
			return nil
		case errors.As(err, &bad):
			r.out.skip(Malformed, source.at(), err.Error())
			continue
		case err != nil:
			return err
		}
		width := len(t.own())
		for len(row) > width && len(row[len(row)-1]) == 0 {
			row = row[:len(row)-1] // a delimiter too many at the end
		}
		if len(row) != width {
			r.out.skip(Malformed, source.at(), fmt.Sprintf("%d fields under %d columns", len(row), width))
			continue
		}
		if t.spread != nil {
			var broken []int
			row, broken = t.spread.row(row)
			for _, column := range broken {
				r.out.unread(t.header[column], source.at(), string(row[column]))
			}
		}
		t.row, t.line = row, source.at()
		if err := r.row(t, t.line); err != nil {
			return err
		}
	}
}

// own are the columns that the rows have, without those of their objects.
func (t *rowTable) own() []string {
	if t.spread != nil {
		return t.header[:t.spread.width]
	}
	return t.header
}

// lay lays a map over the columns of a table. Without a map, the names and the values of the
// columns decide.
func (r *tables) lay(m *Map, header []string, sample [][]string) (*rowTable, error) {
	objects, header, sample := spreadOf(header, sample)
	t := &rowTable{Map: m, format: CSV, header: header, at: map[string]int{}, words: r.words(), spread: objects}
	var u *understanding
	if m == nil {
		u = r.understand(header, sample)
		t.Map, t.at, t.unit = u.mapOf(), u.at, u.durationUnit
		t.types, t.inferred, t.named = u.types(), true, u.named
		for _, at := range t.types {
			if u.columns[at].share(func(s string) bool { return strings.HasPrefix(foldName(s), "reel") }) > 0 {
				t.at[meansReel] = at
			}
		}
		r.out.report.Columns = u.columns.list()
		if len(u.doubts) > 0 {
			r.out.report.Proposal = t.Map
			return nil, &doubtError{u}
		}
		if u.tool != nil {
			r.out.report.form("the table of %s, as of %s", u.tool.Tool, u.tool.AsOf)
		}
		if at, ok := u.at["sourceUrl"]; ok && len(t.types) == 0 && !slices.ContainsFunc([]string{"views", "durationSeconds", meansVideo, meansPhoto}, u.has) &&
			u.columns[at].share(func(s string) bool {
				l := readLink(s)
				return l.platform == "instagram" && !strings.Contains(s, "/reel")
			}) > 0 {
			r.out.report.formOnce(kindless, "")
		}
		if at, ok := u.at["views"]; ok && !u.has("observedAt") && t.Constants["observedAt"] == "" && u.recurs(at) {
			r.out.report.form("a video recurs with other counts, and no column says when they were read")
		}
	} else {
		if err := t.place(m); err != nil {
			r.mapFault = err
			return nil, err
		}
		u = r.mapped(t, sample)
		t.unit = m.DurationUnit
		r.out.report.Columns = u.columns.list()
		r.out.report.form("its column map")
	}
	for _, property := range sortedKeys(t.Metadata) {
		if at := columnAt(header, t.Metadata[property]); at >= 0 {
			t.extra = append(t.extra, place{property, at})
		}
	}
	for _, column := range sortedKeys(t.Filter.Equals) {
		t.equal = append(t.equal, wanted{column, t.Filter.Equals[column], columnAt(header, column)})
	}
	r.style(t, u)
	r.out.report.Map = t.Map
	return t, nil
}

// doubtError is a table that is not read before someone decides.
type doubtError struct{ u *understanding }

func (e *doubtError) Error() string {
	return strings.Join(e.u.doubts, "; ") + "; the columns are " + nameList(e.u.header) + ": a column map is needed"
}

// nameList are the names of columns in words; of very many the first.
func nameList(header []string) string {
	const most = 60
	if len(header) > most {
		return strings.Join(header[:most], ", ") + fmt.Sprintf(" and %d more", len(header)-most)
	}
	return strings.Join(header, ", ")
}

// place finds the columns of a map. A map that names one that is not there is refused.
func (t *rowTable) place(m *Map) error {
	var faults []string
	find := func(column, what string) int {
		at := columnAt(t.header, column)
		if at < 0 {
			faults = append(faults, fmt.Sprintf("the map names %q for %s", column, what))
		}
		return at
	}
	for _, field := range fields {
		if column := m.Columns[field]; column != "" {
			if at := find(column, field); at >= 0 {
				t.at[field] = at
			}
		}
	}
	for _, property := range sortedKeys(m.Metadata) {
		find(m.Metadata[property], property)
	}
	for _, column := range sortedKeys(m.Filter.Equals) {
		find(column, "the filter")
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s; the file has %s", strings.Join(faults, "; "), nameList(t.header))
	}
	return nil
}

// mapped is what a map says of the columns, with the sample that shows their styles.
func (r *tables) mapped(t *rowTable, sample [][]string) *understanding {
	u := newUnderstanding(t.header, sample)
	u.at = t.at
	for i := range u.columns {
		u.columns[i].Reason = "not in the map"
	}
	for field, at := range t.at {
		u.take(field, at, "the map")
	}
	for _, property := range sortedKeys(t.Metadata) {
		if at := columnAt(t.header, t.Metadata[property]); at >= 0 && u.columns[at].Field == "" {
			u.take("metadata."+property, at, "the map")
			delete(u.at, "metadata."+property)
		}
	}
	return u
}

// countFields are the fields that hold a count.
var countFields = []string{"views", "likes", "comments", "shares", "saves", "followers"}

// style finds out how the columns write numbers and times.
func (r *tables) style(t *rowTable, u *understanding) {
	t.numbers, t.times = map[string]*numberStyle{}, map[string]*timeStyle{}
	base := numberStyle{languages: u.languages, words: t.words.count}
	var all []string
	for _, field := range countFields {
		style := base
		if at, ok := t.at[field]; ok {
			style = styleOf(u.columns[at].values, base)
			_, style.scale = nameUnit(t.header[at])
			all = append(all, u.columns[at].values...)
		}
		t.numbers[field] = &style
	}
	// A table has one decimal sign: a column that does not show it takes that of the others.
	table := styleOf(all, base)
	for _, style := range t.numbers {
		if style.decimal == 0 && table.decimal != 0 {
			style.decimal, style.unsure = table.decimal, false
		}
		style.unsure = style.unsure && (table.unsure || table.decimal != 0) // 88,000 beside 4,200 and 12
	}
	// A table has one order of dates, too.
	orders := map[string]string{}
	for _, field := range []string{"observedAt", "postedAt"} {
		if at, ok := t.at[field]; ok {
			orders[field] = u.orderOf(at, r.options.Now)
		}
	}
	for _, field := range []string{"postedAt", "observedAt"} {
		order := orders[field]
		for _, other := range orders {
			if order == "" {
				order = other
			}
		}
		zone := t.zone
		if at, ok := t.at[field]; ok && zone == nil {
			_, zone = nameZone(t.header[at])
		}
		t.times[field] = &timeStyle{layouts: t.TimeLayouts, zone: zone, order: order, since1904: r.since1904, languages: u.languages}
	}
	if at, ok := t.at["externalId"]; ok {
		t.rounded, t.someRounded = roundedIDs(u.columns[at].values), someRounded(u.columns[at].values)
	}
}

// roundedIDs reports ids of which a spreadsheet or a program has rounded the last digits: all
// end in zeros.
func roundedIDs(ids []string) bool {
	least, sum, n := 20, 0, 0
	for _, id := range ids {
		id = plainID(strings.TrimSuffix(id, ".0"))
		if !allDigits(id) || len(id) < 17 {
			continue
		}
		zeros := len(id) - len(strings.TrimRight(id, "0"))
		least, sum, n = min(least, zeros), sum+zeros, n+1
	}
	return n > 0 && (least >= 2 && sum >= 8 || least >= 3 && n > 1 || least >= 4)
}

// spreadsheetZeros end an id that a spreadsheet has rounded to its 15 digits, and one in ten thousand others.
const spreadsheetZeros = "0000"

// someRounded reports more ids with the zeros of a spreadsheet than chance gives, as where tables were joined.
func someRounded(ids []string) bool {
	rounded := 0
	for _, id := range ids {
		if len(id) >= 17 && strings.HasSuffix(strings.TrimSuffix(plainID(id), ".0"), spreadsheetZeros) {
			rounded++
		}
	}
	return rounded > 0 && 100*rounded >= len(ids)
}

// text is a field of the present row, or its constant.
func (t *rowTable) text(field string) string {
	if at, ok := t.at[field]; ok && len(t.row[at]) > 0 {
		return cleanText(string(t.row[at]))
	}
	return t.Constants[field]
}

// row takes one row; the error is emit's.
func (r *tables) row(t *rowTable, line int) error {
	for _, want := range t.equal {
		if !slices.Contains(want.values, string(t.row[want.column])) {
			r.out.skip(Filtered, line, fmt.Sprintf("%s: not one of the values of the map's filter", want.name))
			return nil
		}
	}
	length, known := r.length(t)
	filter := t.Filter
	if (filter.MaxDurationSeconds != nil && (!known || length > *filter.MaxDurationSeconds)) ||
		(filter.MinDurationSeconds != nil && (!known || length < *filter.MinDurationSeconds)) {
		r.out.skip(Filtered, line, "durationSeconds: unknown, or outside the bounds of the map's filter")
		return nil
	}
	var rec stage.Record
	fault := t.identify(&rec)
	if fault == nil {
		fault = t.kindFault(rec.Platform)
	}
	if fault != nil {
		r.out.skip(fault.reason, line, fault.detail)
		return nil
	}
	r.fill(t, &rec)
	rec.Metadata = t.metadata(length, known)
	return r.out.take(rec, t.format, line)
}

// length is the duration of a row's video.
func (r *tables) length(t *rowTable) (seconds float64, known bool) {
	text := t.text("durationSeconds")
	seconds, known = parseDuration(text, t.unit)
	if !known && strings.Trim(text, "0:.,PTDHMS ") != "" && text != "-1" && !hiddenWords[strings.ToLower(text)] {
		r.out.misread(t, "durationSeconds", text)
	}
	return seconds, known
}

func (r *tables) fill(t *rowTable, rec *stage.Record) {
	rounded, live := false, false
	for text := range t.kindTexts {
		live = live || liveWords[foldName(text)]
	}
	number := func(field string) *int64 {
		text := t.text(field)
		if text == "" || live && field == "views" {
			return nil
		}
		c := t.numbers[field].count(text)
		if c.bad && !c.hidden {
			r.out.misread(t, field, text)
		}
		rounded = rounded || c.rounded
		return c.value
	}
	moment := func(field string) *int64 {
		text := t.text(field)
		if text == "" || text == "0" || hiddenWords[strings.ToLower(text)] {
			return nil
		}
		at, ok := t.times[field].read(text)
		if clock := t.text(meansClock); ok && clock != "" && field == "postedAt" {
			at, ok = t.times[field].read(text + " " + clock)
		}
		if !ok {
			r.out.misread(t, field, text)
			return nil
		}
		if at.dated && field == "postedAt" {
			return exactly(rec.Ref, &at.at)
		}
		return &at.at
	}
	rec.PostedAt = moment("postedAt")
	rec.CreatorID = t.creator(rec.Platform)
	if handle, kind, by := t.handle(rec), t.text("kind"), t.text("seededBy"); handle+kind+by != "" {
		rec.Source = &stage.Source{Handle: handle, Kind: kind, SeededBy: by}
	}
	t.under.fill(r.out, rec)
	if rec.SourceURL == "" && t.SourceURL != "" {
		rec.SourceURL = webAddress(t.address(rec.Ref))
	}
	rec.Metrics = stage.Metrics{
		Views: number("views"), Likes: number("likes"), Comments: number("comments"), Shares: number("shares"), Saves: number("saves"),
		ObservedAt: moment("observedAt"), Semantics: t.text("semantics"),
	}
	if rounded && rec.Metrics.Semantics == "" {
		rec.Metrics.Semantics = "rounded"
	}
	rec.Metrics.Followers = number("followers")
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
	if title != caption {
		out.text("title", title)
	}
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
		if extra.name == "isAd" {
			if yesOrNo(string(t.row[extra.column])) > 0 {
				out.raw("isAd", []byte("true"))
			}
			continue
		}
		out.text(extra.name, cleanText(string(t.row[extra.column])))
	}
	return out.object()
}
