// Package bounds checks a message against the bounds in its proto file, which are options
// of buf.validate.
//
// It knows the rules that the API uses, and Compile refuses all others: none is ignored.
// A test compares it with protovalidate, which knows all rules. That library is for tests
// alone, since its expression language is a tenth of a binary and works at every start.
package bounds

import (
	"fmt"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Violation is a value that is out of bounds.
type Violation struct {
	// Path has the names of JSON: `competitors[2]`.
	Path string
	// Message completes a sentence that begins with the path: `must be at most 300 characters`.
	Message string
}

// Message has the bounds of one message type. It is safe for concurrent use.
type Message struct{ fields []field }

type field struct {
	fd       protoreflect.FieldDescriptor
	required bool
	// value checks a value, or each item of a list; list checks the list itself.
	value, list []rule
	nested      *Message
}

// rule returns what is wrong with a value, or "".
type rule func(protoreflect.Value) string

// Compile reads the bounds of a message type and of the messages in it. It fails for a
// rule that the package does not know.
func Compile(desc protoreflect.MessageDescriptor) (*Message, error) {
	return compile(desc, map[protoreflect.FullName]*Message{})
}

func compile(desc protoreflect.MessageDescriptor, seen map[protoreflect.FullName]*Message) (*Message, error) {
	if m := seen[desc.FullName()]; m != nil {
		return m, nil
	}
	m := &Message{}
	seen[desc.FullName()] = m
	if strings.HasPrefix(string(desc.FullName()), "google.protobuf.") {
		return m, nil // has no rules
	}
	if proto.HasExtension(desc.Options(), validate.E_Message) {
		return nil, fmt.Errorf("%s: rules of messages are not supported", desc.FullName())
	}
	for i := range desc.Oneofs().Len() {
		if oneof := desc.Oneofs().Get(i); proto.HasExtension(oneof.Options(), validate.E_Oneof) {
			return nil, fmt.Errorf("%s: rules of a oneof are not supported", oneof.FullName())
		}
	}
	for i := range desc.Fields().Len() {
		f, err := compileField(desc.Fields().Get(i), seen)
		if err != nil {
			return nil, err
		}
		m.fields = append(m.fields, f)
	}
	return m, nil
}

func compileField(fd protoreflect.FieldDescriptor, seen map[protoreflect.FullName]*Message) (f field, err error) {
	f.fd = fd
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Field).(*validate.FieldRules)
	if rules != nil {
		if err := only(fd, rules, "required", "string", "int32", "double", "repeated"); err != nil {
			return field{}, err
		}
		f.required = rules.GetRequired()
		if f.value, err = scalarRules(fd, rules); err == nil {
			err = f.listRules(rules.GetRepeated())
		}
		if err != nil {
			return field{}, err
		}
	}
	switch {
	case fd.IsMap() && (rules != nil || fd.MapValue().Message() != nil):
		return field{}, fmt.Errorf("%s: bounds in a map are not supported", fd.FullName())
	case !fd.IsMap() && fd.Message() != nil:
		f.nested, err = compile(fd.Message(), seen)
	}
	return f, err
}

// Check returns the violations of a message, in the order of its fields.
func (m *Message) Check(message protoreflect.Message) []Violation {
	return m.check(message, "", nil)
}

func (m *Message) check(message protoreflect.Message, above string, found []Violation) []Violation {
	for i := range m.fields {
		f := &m.fields[i]
		if !message.Has(f.fd) {
			switch {
			case f.required:
				found = append(found, Violation{above + f.fd.JSONName(), "is required"})
				continue
			case f.fd.HasPresence() || f.nested != nil && !f.fd.IsList():
				continue
			}
		}
		if len(f.value) == 0 && len(f.list) == 0 && f.nested == nil {
			continue
		}
		value, path := message.Get(f.fd), above+f.fd.JSONName()
		if !f.fd.IsList() {
			found = f.checkOne(value, path, found)
			continue
		}
		for _, wrong := range f.list {
			if text := wrong(value); text != "" {
				found = append(found, Violation{path, text})
			}
		}
		for i := range value.List().Len() {
			found = f.checkOne(value.List().Get(i), fmt.Sprintf("%s[%d]", path, i), found)
		}
	}
	return found
}

func (f *field) checkOne(value protoreflect.Value, path string, found []Violation) []Violation {
	for _, wrong := range f.value {
		if text := wrong(value); text != "" {
			found = append(found, Violation{path, text})
		}
	}
	if f.nested != nil {
		found = f.nested.check(value.Message(), path+".", found)
	}
	return found
}
