package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Understanding is what a reading took a file for.
type Understanding struct {
	// Form says in words how the file was laid out, and why it was read so.
	Form []string `json:"form,omitempty"`
	// Fields counts the videos in which each field was found, of all that were read.
	Fields map[string]int `json:"fields,omitempty"`
	// Columns are those of the table.
	Columns []Column `json:"columns,omitempty"`
	// Misread are the first texts that were not understood.
	Misread []Misread `json:"misread,omitempty"`
	// Proposal is a column map to start from, if the table could not be read without one.
	Proposal *Map `json:"proposal,omitempty"`
	// Map is the one by which the table was read; nil if it was not, or is no table.
	Map *Map `json:"-"`
	// ObservedInFile counts the videos whose counts have a time in the file. The others
	// have that of the import.
	ObservedInFile int `json:"observedInFile"`
	// Places counts the videos by the members of a JSON file under which they were found.
	Places map[string]int `json:"places,omitempty"`
	// Entries are the files of a zip; of very many the first.
	Entries []Entry `json:"entries,omitempty"`
}

// Misread is a text that was not understood; the video is kept without it.
type Misread struct {
	// Column is the name of the column, or the field of a known format.
	Column string `json:"column"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
}

// maxForms, maxMisread and maxMisreadOfColumn bound what a report says.
const (
	maxForms           = 10
	maxMisread         = 20
	maxMisreadOfColumn = 10
)

func (u *Understanding) form(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(u.Form) < maxForms && !slices.Contains(u.Form, text) {
		u.Form = append(u.Form, text)
	}
}

// formOnce says something once, with what follows about the first case.
func (u *Understanding) formOnce(words, format string, args ...any) {
	if !slices.ContainsFunc(u.Form, func(had string) bool { return strings.HasPrefix(had, words) }) {
		u.form("%s"+format, append([]any{words}, args...)...)
	}
}

// misread notes a text of the present row that is no value of its field.
func (r *results) misread(t *rowTable, field, text string) {
	name := field
	if at, ok := t.at[field]; ok {
		name = t.header[at]
	}
	r.unread(name, t.line, text)
}

func (r *results) unread(column string, line int, text string) {
	r.report.Doubtful++
	if len(r.report.Misread) == maxMisread {
		return
	}
	const longest = 60
	if runes := []rune(text[:min(len(text), 5*longest)]); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	n := 0
	for _, had := range r.report.Misread {
		if had.Column == column {
			n++
		}
		if had.Column == column && had.Text == text { // once is enough
			return
		}
	}
	if n < maxMisreadOfColumn {
		r.report.Misread = append(r.report.Misread, Misread{column, line, text})
	}
}

// found counts the fields of a record.
func (u *Understanding) found(rec *stage.Record) {
	if u.Fields == nil {
		u.Fields = map[string]int{}
		for _, field := range reportedFields {
			u.Fields[field] = 0
		}
	}
	count := func(field string, has bool) {
		if has {
			u.Fields[field]++
		}
	}
	m := &rec.Metrics
	count("views", m.Views != nil)
	count("likes", m.Likes != nil)
	count("comments", m.Comments != nil)
	count("shares", m.Shares != nil)
	count("saves", m.Saves != nil)
	count("followers", m.Followers != nil)
	count("postedAt", rec.PostedAt != nil)
	count("handle", rec.Source != nil && rec.Source.Handle != "")
	count("creatorId", rec.CreatorID != "")
	count("sourceUrl", rec.SourceURL != "")
	count("metadata", len(rec.Metadata) > 0)
	if m.ObservedAt != nil {
		u.ObservedInFile++
	}
}

// reportedFields are the fields that a report counts.
var reportedFields = []string{"views", "likes", "comments", "shares", "saves", "followers", "postedAt", "handle", "creatorId", "sourceUrl", "metadata"}

// maxPlaces bounds the places of a report.
const maxPlaces = 30

func (u *Understanding) place(place string) {
	if place == "" {
		return
	}
	if u.Places == nil {
		u.Places = map[string]int{}
	}
	if _, ok := u.Places[place]; !ok && len(u.Places) == maxPlaces {
		place = "…"
	}
	u.Places[place]++
}
