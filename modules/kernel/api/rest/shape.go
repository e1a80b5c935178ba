package rest

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Shape is a message type prepared for the REST codec: its fields in the order of
// their declaration, with the options that only REST uses.
type Shape struct {
	desc   protoreflect.MessageDescriptor
	fields []*field
	byName map[string]*field
	// Names are the names of the fields that have another one on REST.
	Names map[string]string
	free  freeForm
}

// freeForm marks the message types that hold arbitrary JSON.
type freeForm int

const (
	notFree freeForm = iota
	freeValue
	freeObject
	freeList
)

type field struct {
	index     int
	desc      protoreflect.FieldDescriptor
	name      string // on REST
	key       string // `"name":`
	kind      protoreflect.Kind
	list      bool
	presence  bool
	omitUnset bool
	rpcOnly   bool
	// emptySets is the flag that an empty list sets, or nil.
	emptySets protoreflect.FieldDescriptor
	message   *Shape
}

// ShapeOf prepares a message type and the types of its fields; known caches them.
func ShapeOf(desc protoreflect.MessageDescriptor, known map[protoreflect.FullName]*Shape) *Shape {
	if s, ok := known[desc.FullName()]; ok {
		return s
	}
	s := &Shape{desc: desc, byName: map[string]*field{}}
	known[desc.FullName()] = s
	switch desc.FullName() {
	case "google.protobuf.Value":
		s.free = freeValue
		return s
	case "google.protobuf.Struct":
		s.free = freeObject
		return s
	case "google.protobuf.ListValue":
		s.free = freeList
		return s
	}
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		f := &field{
			index: i, desc: fd, name: fd.JSONName(),
			kind: fd.Kind(), list: fd.IsList(), presence: fd.HasPresence(),
			omitUnset: extension[bool](fd, scrolleryv1.E_OmitUnset),
			rpcOnly:   extension[bool](fd, scrolleryv1.E_RpcOnly),
		}
		if name := extension[string](fd, scrolleryv1.E_RestName); name != "" {
			if s.Names == nil {
				s.Names = map[string]string{}
			}
			s.Names[f.name], f.name = name, name
		}
		f.key = `"` + f.name + `":`
		if flag := extension[string](fd, scrolleryv1.E_EmptySets); flag != "" {
			f.emptySets = desc.Fields().ByName(protoreflect.Name(flag))
		}
		if fd.Message() != nil {
			f.message = ShapeOf(fd.Message(), known)
		}
		s.fields = append(s.fields, f)
		s.byName[f.name] = f
	}
	return s
}

func extension[T any](fd protoreflect.FieldDescriptor, of protoreflect.ExtensionType) T {
	value, _ := proto.GetExtension(fd.Options(), of).(T)
	return value
}

// Secret reports whether the message has a field that holds a secret.
func (s *Shape) Secret() bool {
	return slices.ContainsFunc(s.fields, func(f *field) bool { return extension[bool](f.desc, scrolleryv1.E_Secret) })
}

// Readable fails for request types that the REST decoder cannot read.
func (s *Shape) Readable() error {
	if len(s.fields) > 64 {
		return fmt.Errorf("%s has more than 64 fields", s.desc.FullName())
	}
	for _, f := range s.fields {
		if f.rpcOnly {
			continue
		}
		switch f.kind {
		case protoreflect.StringKind:
			continue
		case protoreflect.BoolKind, protoreflect.Int32Kind, protoreflect.DoubleKind:
			if !f.list {
				continue
			}
		case protoreflect.MessageKind:
			if !f.list && f.message.free == freeValue {
				continue
			}
		}
		return fmt.Errorf("field %s has a type that REST input cannot hold", f.desc.FullName())
	}
	return nil
}

// maxNested is how deep the columns of a list lead into objects.
const maxNested = 3

// Listed is the one member of an answer that is an array of objects, and the columns that
// these objects have as a table. member is empty if there is none, or more than one.
func (s *Shape) Listed() (member string, columns []string) {
	var items *field
	for _, f := range s.fields {
		switch {
		case !f.list || f.message == nil || f.message.free != notFree || f.rpcOnly:
		case items != nil:
			return "", nil
		default:
			items = f
		}
	}
	if items == nil {
		return "", nil
	}
	return items.name, columnsOf(items.message, "", 1)
}

func columnsOf(s *Shape, prefix string, depth int) (columns []string) {
	for _, f := range s.fields {
		switch {
		case f.rpcOnly:
		case f.message != nil && f.message.free == notFree && !f.list && depth < maxNested:
			columns = append(columns, columnsOf(f.message, prefix+f.name+".", depth+1)...)
		default:
			columns = append(columns, prefix+f.name)
		}
	}
	return columns
}
