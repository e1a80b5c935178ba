package api

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// validate checks a request against the bounds in its proto file and adds the issues.
// It returns an error when the rules themselves cannot be applied.
func (m *Mux) validate(s *issues, op *operation, request proto.Message) error {
	message := request.ProtoReflect()
	if !op.bounded {
		return nil
	}
	checkTimes(s, op.times, message)
	eachFree(message, func(path string, value *structpb.Value) { checkFree(s, path, value) })
	checked, err := op.bounds()
	if err != nil {
		return fmt.Errorf("read the bounds of %s: %w", message.Descriptor().FullName(), err)
	}
	for _, violation := range checked.Check(message) {
		s.add(violation.Path, "%s", violation.Message)
	}
	return nil
}

// judge checks a decoded request for everything that its operation can refuse before it
// runs: the bounds of the proto file and the operation's own Check. found has the faults
// of decoding; the error lists all.
func (m *Mux) judge(ctx context.Context, c *call, b *binding, found *issues, request proto.Message) error {
	if c.protocol == "rest" || c.protocol == agentProtocol {
		found.names = b.op.input.restNames
	}
	if err := m.validate(found, b.op, request); err != nil {
		return err
	}
	if b.check != nil {
		c.faults = found
		err := b.check(ctx, request)
		c.faults = nil
		if err != nil {
			f := apierr.As(err)
			if f == nil || found.empty() && f.Kind != apierr.InvalidRequest {
				return err
			}
			for _, issue := range f.Issues {
				found.add(issue.Path, "%s", issue.Message)
			}
		}
	}
	return found.orNil()
}

// hasBounds reports whether a message has anything for validate to check.
func hasBounds(desc protoreflect.MessageDescriptor) bool {
	if proto.HasExtension(desc.Options(), validate.E_Message) {
		return true
	}
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		if fd.Message() != nil || proto.HasExtension(fd.Options(), validate.E_Field) {
			return true
		}
	}
	return false
}

// eachFree visits the free-form properties of a request.
func eachFree(message protoreflect.Message, do func(path string, value *structpb.Value)) {
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

// eachText visits the texts of a request.
func eachText(message protoreflect.Message, do func(path, text string)) {
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
