package rest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// shownIssues is the most issues in one answer; the others are counted.
	shownIssues = 100
	// shownName is the most code points of an unknown name in an answer.
	shownName = 256
)

// Issues collects the faults of one input, at most one for each path.
type Issues struct {
	list []apierr.Issue
	more int
	// Names are the names that properties have on the caller's protocol, by their JSON
	// name, where they differ.
	Names map[string]string
}

// Empty reports whether nothing was wrong.
func (s *Issues) Empty() bool { return len(s.list) == 0 }

// Add adds a fault, unless its path has one.
func (s *Issues) Add(path, format string, args ...any) {
	if name, other := s.Names[path]; other {
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

func (s *Issues) has(path string) bool {
	path = clip(path)
	return slices.ContainsFunc(s.list, func(issue apierr.Issue) bool { return issue.Path == path })
}

// Within reports whether there is an issue of the property or inside of it.
func (s *Issues) Within(name string) bool {
	return slices.ContainsFunc(s.list, func(issue apierr.Issue) bool {
		rest, inside := strings.CutPrefix(issue.Path, name)
		return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Err returns all issues as one error.
func (s *Issues) Err() error {
	list := append([]apierr.Issue(nil), s.list...)
	if s.more > 0 {
		list = append(list, apierr.Issue{Message: strconv.Itoa(s.more) + " more faults are not listed"})
	}
	return apierr.InvalidIssues(list...)
}

// OrNil is the error of the issues, nil without one.
func (s *Issues) OrNil() error {
	if s.Empty() {
		return nil
	}
	return s.Err()
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

// EachFree visits the free-form properties of a request.
func EachFree(message protoreflect.Message, do func(path string, value *structpb.Value)) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if fd.Message() == nil || fd.IsList() || fd.IsMap() || !message.Has(fd) {
			continue
		}
		if value, ok := message.Get(fd).Message().Interface().(*structpb.Value); ok {
			do(fd.JSONName(), value)
		}
	}
}

// EachText visits the texts of a request.
func EachText(message protoreflect.Message, do func(path, text string)) {
	message.Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if fd.Kind() != protoreflect.StringKind {
			return true
		}
		if !fd.IsList() {
			do(fd.JSONName(), value.String())
			return true
		}
		for i := range value.List().Len() {
			do(fd.JSONName()+"["+strconv.Itoa(i)+"]", value.List().Get(i).String())
		}
		return true
	})
}
