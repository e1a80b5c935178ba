// Package search reads the library's lists by filters.
//
// Its cost does not grow with the library. Of the terms that a video must have, the
// index tells which is rare. If few videos have it, the page looks at these alone.
// Otherwise it looks at the next rows of the list's own index, a bounded number. An
// answer may therefore hold fewer items than asked for, even none, and have a cursor all
// the same: it stands for the last row that was looked at, so that the next page goes on
// there.
package search

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// examined bounds the rows of the list's index that one page looks at, and few those of
	// the index of words, each of which costs twice as much. With these, a page costs less
	// than five times one without a filter.
	examined, few = 180, 200
	// MostItems is the longest page.
	MostItems = 25
	// mostAsked bounds the terms of a filter.
	mostAsked = 12
)

// Filter chooses videos. A zero value chooses all; a video must meet every other one.
type Filter struct {
	Platform, Kind string
	// Creator is a folded handle without @.
	Creator string
	// MinViews bounds the views of the newest usable reading.
	MinViews int64
	MinScore float64
	// MinFollowers and MaxFollowers bound the followers of the creator, as they were read
	// last. A video meets neither where no source read them.
	MinFollowers, MaxFollowers int64
	// MinVideos and MinGrowth are of trends: how many videos they have, and the median of
	// their growth. Searches of videos do not look at them.
	MinVideos int
	MinGrowth float64
	// PostedAfter and PostedBefore bound the posting time, Unix milliseconds; the first
	// one is within. A video without a date meets neither.
	PostedAfter, PostedBefore int64
	// Terms are terms that a video has, with a space between them; see [Text].
	Terms string
	// Without is a term that it does not have.
	Without string
}

// IsZero reports whether the filter chooses all videos.
func (f Filter) IsZero() bool { return f == Filter{} }

// Faults of a text that is searched for.
var (
	ErrNoWord    = errors.New("must have a letter or a digit")
	ErrManyWords = errors.New("has too many words; at most 10 are searched for")
)

// CheckQuery refuses a text to search for that has no words or too many.
func CheckQuery(q string) error {
	switch n := len(distinct(Words(q))); {
	case n == 0:
		return ErrNoWord
	case n > mostAsked-2: // a hashtag and a language may come on top
		return ErrManyWords
	}
	return nil
}

// Impossible returns the parameters of bounds that no value lies between, each with what
// is wrong with it: otherwise they would look like an empty library.
func (f Filter) Impossible() []apierr.Issue {
	var issues []apierr.Issue
	if f.MaxFollowers > 0 && f.MinFollowers > f.MaxFollowers {
		issues = append(issues,
			apierr.Issue{Path: "minFollowers", Message: "must not be greater than maxFollowers"},
			apierr.Issue{Path: "maxFollowers", Message: "must not be less than minFollowers"})
	}
	if f.PostedBefore > 0 && f.PostedAfter >= f.PostedBefore {
		issues = append(issues,
			apierr.Issue{Path: "postedAfter", Message: "must be less than postedBefore"},
			apierr.Issue{Path: "postedBefore", Message: "must be greater than postedAfter"})
	}
	return issues
}

var platform = regexp.MustCompile(`^[a-z0-9_]*$`)

// CheckPlatform refuses what no platform is called. Any platform may have videos, so
// others that are not known are not refused.
func CheckPlatform(name string) []apierr.Issue {
	if platform.MatchString(name) {
		return nil
	}
	return []apierr.Issue{{Path: "platform", Message: "must be the name of a platform in lower case, as `tiktok`, `youtube` or `instagram`: letters a-z, digits and _"}}
}

// With returns the filter with terms added; empty ones are left out.
func (f Filter) With(terms ...string) Filter {
	f.Terms = strings.Join(distinct(append(strings.Fields(f.Terms), terms...)), " ")
	return f
}

func distinct(terms []string) []string {
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return slices.DeleteFunc(terms, func(term string) bool { return term == "" })
}

// values are the arguments of a page's statement from $4 on, with the terms in this order.
func (f Filter) values(terms []string) []any {
	values := []any{f.Kind, f.Creator, f.MinViews, f.MinScore, f.PostedAfter, f.PostedBefore}
	if len(terms) > 0 || f.Without != "" {
		values = append(values, f.Without)
	}
	for _, term := range terms {
		values = append(values, term)
	}
	if f.followed() {
		values = append(values, f.MinFollowers, f.MaxFollowers)
	}
	return values
}

// followed reports whether the filter asks for followers.
func (f Filter) followed() bool { return f.MinFollowers > 0 || f.MaxFollowers > 0 }

// afterTerms is the number of the argument after the terms.
func (f Filter) afterTerms(terms int) int {
	if terms == 0 && f.Without == "" {
		return 10
	}
	return 11 + terms
}
