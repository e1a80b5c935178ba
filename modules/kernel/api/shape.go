package api

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/api/table"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// shape is a message type prepared for the REST codec: its fields in the order of
// their declaration, with the options that only REST uses.
type shape struct {
	desc   protoreflect.MessageDescriptor
	fields []*field
	byName map[string]*field
	// restNames are the names of the fields that have another one on REST.
	restNames map[string]string
	free      freeForm
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
	message   *shape
}

// shapeOf prepares a message type and the types of its fields; known caches them.
func shapeOf(desc protoreflect.MessageDescriptor, known map[protoreflect.FullName]*shape) *shape {
	if s, ok := known[desc.FullName()]; ok {
		return s
	}
	s := &shape{desc: desc, byName: map[string]*field{}}
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
			if s.restNames == nil {
				s.restNames = map[string]string{}
			}
			s.restNames[f.name], f.name = name, name
		}
		f.key = `"` + f.name + `":`
		if flag := extension[string](fd, scrolleryv1.E_EmptySets); flag != "" {
			f.emptySets = desc.Fields().ByName(protoreflect.Name(flag))
		}
		if fd.Message() != nil {
			f.message = shapeOf(fd.Message(), known)
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

// secret reports whether the message has a field that holds a secret.
func (s *shape) secret() bool {
	return slices.ContainsFunc(s.fields, func(f *field) bool { return extension[bool](f.desc, scrolleryv1.E_Secret) })
}

// readable fails for request types that the REST decoder cannot read.
func (s *shape) readable() error {
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

// listOf describes the answer of an operation that lists things: a GET whose name says so
// or that takes a limit, and whose answer has one array of objects. It is nil for others.
func listOf(op *operation) *table.List {
	named := strings.HasPrefix(op.name, "List") || op.input.desc.Fields().ByName("limit") != nil || op.input.desc.Fields().ByName("page_size") != nil
	if op.Method != "GET" || op.desc.IsStreamingServer() || !named {
		return nil
	}
	var items *field
	for _, f := range op.output.fields {
		switch {
		case !f.list || f.message == nil || f.message.free != notFree || f.rpcOnly:
		case items != nil:
			return nil
		default:
			items = f
		}
	}
	if items == nil {
		return nil
	}
	return &table.List{Member: items.name, Next: "nextCursor", Columns: columnsOf(items.message, "", 1)}
}

func columnsOf(s *shape, prefix string, depth int) (columns []string) {
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
