package formats

import (
	"cmp"
	"fmt"
	"slices"
)

// Reason says why something of a file did not become a video. They are few, so
// that they can be counted; what exactly was wrong is in the notes.
type Reason string

// The reasons. The first group could not be read; the second was read and is no
// video of ours.
const (
	// Malformed is no valid JSON or CSV.
	Malformed Reason = "malformed"
	// Truncated breaks off at the end of the file.
	Truncated Reason = "truncated"
	// TooLong is more than may be held at once.
	TooLong Reason = "too_long"
	// UnknownForm is an object in none of the formats, or not in the one asked for.
	UnknownForm Reason = "unknown_format"
	// NoID names no platform, or no id that could name a video.
	NoID Reason = "no_id"
	// ErrorAnswer is what an API or a scraper wrote instead of a video.
	ErrorAnswer Reason = "error_answer"
	// Empty is a file in which there is nothing.
	Empty Reason = "empty"
	// OwnArchive is what a platform gives users of their own account: it has no counts.
	OwnArchive Reason = "own_archive"
	// Unreadable is a file that cannot be opened or unpacked, or has no column map.
	Unreadable Reason = "unreadable"

	// OtherFile is a file of a kind that is not read.
	OtherFile Reason = "other_file"
	// NotVideo is a photo, an album, a channel, a playlist.
	NotVideo Reason = "not_a_video"
	// OtherPlatform is of a platform that is not read.
	OtherPlatform Reason = "other_platform"
	// Unavailable was there for the collecting program, but had gone or was private.
	Unavailable Reason = "unavailable"
	// Filtered was left out by the filter of a column map.
	Filtered Reason = "filtered"
)

// Unread reports whether the reason is a fault of the file, as against a choice.
func (r Reason) Unread() bool {
	return slices.Contains([]Reason{Malformed, Truncated, TooLong, UnknownForm, NoID, ErrorAnswer, Unreadable, Empty, OwnArchive}, r)
}

// Skip counts what was left out for one reason.
type Skip struct {
	Reason Reason `json:"reason"`
	Count  int    `json:"count"`
	// Line is where the first of them began, from 1; 0 is the file as a whole.
	Line int `json:"firstLine,omitempty"`
	// Detail is what was wrong with the first.
	Detail string `json:"firstDetail,omitempty"`
}

// maxNotes bounds the notes of a report.
const maxNotes = 20

// Report says what a reading took and what it left out.
type Report struct {
	Files int
	// Videos that were read, repeated ones included.
	Videos int
	// Doubtful counts values that make no sense, such as views below zero; the
	// video is kept without them.
	Doubtful int
	// Formats counts the videos of each format.
	Formats map[string]int
	// Skips has one entry a reason.
	Skips map[Reason]Skip
	Understanding
	// Notes say where and why, without the text itself; at most twenty.
	Notes []string
}

// Skipped is how much of the input could not be read.
func (r Report) Skipped() (n int) {
	for reason, skip := range r.Skips {
		if reason.Unread() {
			n += skip.Count
		}
	}
	return n
}

// Count is how often something was left out for one of the reasons.
func (r Report) Count(reasons ...Reason) (n int) {
	for _, reason := range reasons {
		n += r.Skips[reason].Count
	}
	return n
}

// Sorted are the skips, the most frequent first.
func (r Report) Sorted() []Skip {
	all := make([]Skip, 0, len(r.Skips))
	for _, skip := range r.Skips {
		all = append(all, skip)
	}
	slices.SortFunc(all, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

func (r *Report) note(format string, args ...any) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	}
}

func (r *Report) skip(name string, reason Reason, line int, detail string) {
	if r.Skips == nil {
		r.Skips = map[Reason]Skip{}
	}
	skip, had := r.Skips[reason]
	if !had {
		skip = Skip{Reason: reason, Line: line, Detail: detail}
	}
	skip.Count++
	r.Skips[reason] = skip
	switch {
	case !reason.Unread():
	case line > 0:
		r.note("%s: line %d: %s", name, line, detail)
	default:
		r.note("%s: %s", name, detail)
	}
}

// fault is why an object is no video.
type fault struct {
	reason Reason
	detail string
}

func (f *fault) Error() string { return f.detail }

func skipped(reason Reason, format string, args ...any) error {
	return &fault{reason, fmt.Sprintf(format, args...)}
}
