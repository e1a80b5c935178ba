package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// shownIssues is the most issues in one answer; the others are counted.
	shownIssues = 100
	// shownName is the most code points of an unknown name in an answer.
	shownName = 256
)

// issues collects the faults of one input, at most one for each path.
type issues struct {
	list []apierr.Issue
	more int
	// names are the names that properties have on the caller's protocol, by their JSON
	// name, where they differ.
	names map[string]string
}

func (s *issues) empty() bool { return len(s.list) == 0 }

func (s *issues) add(path, format string, args ...any) {
	if name, other := s.names[path]; other {
		path = name
	}
	if s.has(path) {
		return
	}
	if len(s.list) == shownIssues {
		s.more++
		return
	}
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	s.list = append(s.list, apierr.Issue{Path: clip(path), Message: message})
}

func (s *issues) has(path string) bool {
	path = clip(path)
	return slices.ContainsFunc(s.list, func(issue apierr.Issue) bool { return issue.Path == path })
}

// within reports whether there is an issue of the property or inside of it.
func (s *issues) within(name string) bool {
	return slices.ContainsFunc(s.list, func(issue apierr.Issue) bool {
		rest, inside := strings.CutPrefix(issue.Path, name)
		return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// err returns all issues as one error.
func (s *issues) err() error {
	list := append([]apierr.Issue(nil), s.list...)
	if s.more > 0 {
		list = append(list, apierr.Issue{Message: strconv.Itoa(s.more) + " more faults are not listed"})
	}
	return apierr.InvalidIssues(list...)
}

// clip shortens a long name, so that an answer does not repeat all of it.
func clip(path string) string {
	if len(path) <= shownName || utf8.RuneCountInString(path) <= shownName {
		return path
	}
	runes := 0
	for at := range path {
		if runes == shownName {
			return path[:at] + "…"
		}
		runes++
	}
	return path
}
