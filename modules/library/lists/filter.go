package lists

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Filter chooses videos or trends. A zero value chooses all; an item must meet every other
// one. It is a part of the key of cached pages, so it must stay comparable.
type Filter struct {
	Platform, Kind string
	// Creator is a folded handle without @.
	Creator string
	// MinViews bounds the views of the newest usable reading.
	MinViews int64
	MinScore float64
	// MinFollowers and MaxFollowers bound the followers of the creator, as they were read
	// last. A video meets neither if no source read them.
	MinFollowers, MaxFollowers int64
	// MinVideos and MinGrowth are of trends: how many videos they have, and the median of
	// their growth.
	MinVideos int64
	MinGrowth float64
	// PostedAfter and PostedBefore bound the posting time, Unix milliseconds; the first
	// one is within. A video without a date meets neither.
	PostedAfter, PostedBefore int64
	// Since bounds when a video became an outlier, Unix milliseconds.
	Since int64
	// Terms are terms that a video has, with a space between them; see [videos.Text].
	Terms string
	// Without is a term that it does not have.
	Without string
}

// filter is a row of the table: what a request calls it, and what it demands of an item.
type filter struct {
	// name is the field of requests, as JSON has it.
	name string
	// column and operator compare an item with the value: of a video v, its creator c or a
	// trend t. Empty if terms alone decide.
	column, operator string
	// value is the place of the value in a filter: a *string, *int64 or *float64.
	value func(*Filter) any
	// fold and term make the value and a term of a text; nil for the text itself and none.
	fold, term func(text string) string
}

// table has every filter. A new one is a row of it, a field of [Filter] and a field of each
// request that takes it. It must not be changed.
var table = [...]filter{
	{name: "platform", column: "v.platform", operator: "=", value: func(f *Filter) any { return &f.Platform }},
	{name: "kind", column: "v.kind", operator: "=", value: func(f *Filter) any { return &f.Kind }},
	{name: "creator", column: "v.handle", operator: "=", value: func(f *Filter) any { return &f.Creator }, fold: score.Handle, term: videos.Creator},
	{name: "minViews", column: "v.usable_views", operator: ">=", value: func(f *Filter) any { return &f.MinViews }},
	{name: "minScore", column: "v.score", operator: ">=", value: func(f *Filter) any { return &f.MinScore }},
	{name: "postedAfter", column: "v.posted_at", operator: ">=", value: func(f *Filter) any { return &f.PostedAfter }},
	{name: "postedBefore", column: "v.posted_at", operator: "<", value: func(f *Filter) any { return &f.PostedBefore }},
	{name: "since", column: "v.outlier_since", operator: ">=", value: func(f *Filter) any { return &f.Since }},
	{name: "minFollowers", column: "c.followers", operator: ">=", value: func(f *Filter) any { return &f.MinFollowers }},
	{name: "maxFollowers", column: "c.followers", operator: "<=", value: func(f *Filter) any { return &f.MaxFollowers }},
	{name: "minVideos", column: "t.video_count", operator: ">=", value: func(f *Filter) any { return &f.MinVideos }},
	{name: "minGrowth", column: "t.growth", operator: ">=", value: func(f *Filter) any { return &f.MinGrowth }},
	{name: "hashtag", term: videos.Hashtag},
	{name: "language", term: videos.Language},
}

// Faults of a text that is searched for.
var (
	ErrNoWord    = errors.New("must have a letter or a digit")
	ErrManyWords = errors.New("has too many words; at most 10 are searched for")
)

// mostAsked bounds the terms of a filter.
const mostAsked = 12

// CheckQuery refuses a text to search for that has no words or too many.
func CheckQuery(q string) error {
	switch n := len(distinctTerms(videos.Words(q))); {
	case n == 0:
		return ErrNoWord
	case n > mostAsked-2: // a hashtag and a language may come on top
		return ErrManyWords
	}
	return nil
}

// text is the value of a text as the filter takes it.
func (r *filter) text(value any) string {
	text, _ := value.(string)
	if r.fold != nil {
		return r.fold(text)
	}
	return text
}

// number is a number of any type that requests have.
func number(value any) float64 {
	switch n := value.(type) {
	case int32:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// Impossible returns the filters of bounds that no value lies between, each with what is
// wrong with it: otherwise they would look like an empty library.
func (f Filter) Impossible() (issues []apierr.Issue) {
	for i := range table {
		for j := range table {
			least, most := &table[i], &table[j]
			if least.column == "" || least.column != most.column || least.operator != ">=" || most.operator == ">=" {
				continue
			}
			from, _ := least.value(&f).(*int64)
			to, _ := most.value(&f).(*int64)
			below, above := "must not be greater than ", "must not be less than "
			if most.operator == "<" {
				below, above = "must be less than ", "must be greater than "
			}
			if *to > 0 && (*from > *to || *from == *to && most.operator == "<") {
				issues = append(issues,
					apierr.Issue{Path: least.name, Message: below + most.name}, apierr.Issue{Path: most.name, Message: above + least.name})
			}
		}
	}
	return issues
}

// With returns the filter with terms added; empty ones are left out.
func (f Filter) With(terms ...string) Filter {
	f.Terms = strings.Join(distinctTerms(append(strings.Fields(f.Terms), terms...)), " ")
	return f
}

func distinctTerms(terms []string) []string {
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return slices.DeleteFunc(terms, func(term string) bool { return term == "" })
}

// asks reports whether a filter of a table of the database, by its alias, is asked for.
func (f Filter) asks(alias string) bool {
	return slices.ContainsFunc(table[:], func(row filter) bool {
		return strings.HasPrefix(row.column, alias) && row.bound(&f) != row.bound(&Filter{})
	})
}

// bound is the value that a statement takes.
func (r *filter) bound(f *Filter) any {
	switch place := r.value(f).(type) {
	case *string:
		return *place
	case *float64:
		return *place
	case *int64:
		return *place
	}
	return nil
}

// where is the condition of all filters of a table of the database. All are in the text, so
// that there are few texts; those that are zero let everything in.
func (f Filter) where(alias string, a *arguments) (where string) {
	for i := range table {
		row := &table[i]
		if !strings.HasPrefix(row.column, alias) {
			continue
		}
		value := row.bound(&f)
		zero := map[bool]string{true: "TEXT) = ''", false: "DOUBLE PRECISION) = 0"}[row.operator == "="]
		where += fmt.Sprintf(" AND (%[1]s %[2]s %[3]s OR CAST(%[3]s AS %[4]s)", row.column, row.operator, a.bind(value), zero)
	}
	return where
}
