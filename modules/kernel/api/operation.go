package api

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/modules/kernel/api/bounds"
	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/api/table"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	apiPackage = "scrollery.v1"
	kibibyte   = 1024
)

// operation is one row of the operation table and the values derived from it.
type operation struct {
	*scrolleryv1.Operation
	name      string // of the rpc
	procedure string // "/scrollery.v1.RulesService/GetRules"
	desc      protoreflect.MethodDescriptor
	bounded   bool                           // the input has bounds beyond its types
	times     []protoreflect.FieldDescriptor // of the input
	// bounds are those of the input, read at its first use.
	bounds    func() (*bounds.Message, error)
	caching   []string // header Cache-Control of every answer
	input     *rest.Shape
	output    *rest.Shape
	list      *table.List // nil if the answer is no list
	newInput  func() proto.Message
	newOutput func() proto.Message
}

// public reports whether the operation serves callers without a key.
func (o *operation) public() bool {
	return o.Auth == scrolleryv1.Auth_AUTH_PUBLIC || o.Auth == scrolleryv1.Auth_AUTH_OLDER_PUBLIC
}

// older reports whether errors have the form of the older endpoints.
func (o *operation) older() bool {
	return o.Auth == scrolleryv1.Auth_AUTH_OLDER_KEY || o.Auth == scrolleryv1.Auth_AUTH_OLDER_PUBLIC
}

// maxBody is the largest body in bytes.
func (o *operation) maxBody() int64 {
	if o.MaxBodyKib > 0 {
		return int64(o.MaxBodyKib) * kibibyte
	}
	return 1024 * kibibyte
}

// success is the HTTP status of a success that does not set one with Status.
func (o *operation) success() int {
	if len(o.Statuses) > 0 {
		return int(o.Statuses[0])
	}
	return 200
}

// bytesOf is the only field of a message, if it is of bytes; else nil.
func bytesOf(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if fields := message.Fields(); fields.Len() == 1 && fields.Get(0).Kind() == protoreflect.BytesKind && !fields.Get(0).IsList() {
		return fields.Get(0)
	}
	return nil
}

// fileOf is the field of an upload's input that has the file; nil without one.
func fileOf(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	var file protoreflect.FieldDescriptor
	for i := range message.Fields().Len() {
		if field := message.Fields().Get(i); field.Kind() == protoreflect.BytesKind && !field.IsList() {
			if file != nil {
				return nil
			}
			file = field
		}
	}
	return file
}

// operationTable is read once, by rpc name. Nothing changes it.
var operationTable = sync.OnceValues(readOperations)

// Prepare reads the operation table, which New needs, while something else is waited for.
func Prepare() { _, _ = operationTable() }

// readOperations reads the table from the linked descriptors, by rpc name.
func readOperations() (map[string]*operation, error) {
	operations := map[string]*operation{}
	shapes := map[protoreflect.FullName]*rest.Shape{}
	ids := map[string]bool{}
	var failed error
	protoregistry.GlobalFiles.RangeFilesByPackage(apiPackage, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				op, err := readOperation(methods.Get(j), shapes)
				if err == nil && (operations[op.name] != nil || ids[op.Id]) {
					err = fmt.Errorf("operation %s is defined twice", op.Id)
				}
				if err != nil {
					failed = err
					return false
				}
				operations[op.name], ids[op.Id] = op, true
			}
		}
		return true
	})
	return operations, failed
}

func readOperation(method protoreflect.MethodDescriptor, shapes map[protoreflect.FullName]*rest.Shape) (*operation, error) {
	row, _ := proto.GetExtension(method.Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
	switch {
	case row.GetId() == "":
		return nil, fmt.Errorf("rpc %s has no operation option", method.FullName())
	case (row.Method == "") != (row.Path == ""):
		return nil, fmt.Errorf("operation %s needs both method and path", row.Id)
	case row.Path == "":
		return nil, fmt.Errorf("operation %s has no path on REST", row.Id)
	case method.IsStreamingServer() && row.Method != "GET":
		return nil, fmt.Errorf("operation %s is a stream, which REST serves with GET", row.Id)
	case row.MediaType != "" && (!method.IsStreamingServer() || bytesOf(method.Output()) == nil):
		return nil, fmt.Errorf("operation %s has a media type and is no stream of bytes", row.Id)
	case row.Upload && (row.Method != "POST" || method.IsStreamingServer() || fileOf(method.Input()) == nil):
		return nil, fmt.Errorf("operation %s is an upload, so it needs POST and one field of bytes", row.Id)
	case row.Auth == scrolleryv1.Auth_AUTH_UNSPECIFIED:
		return nil, fmt.Errorf("operation %s has no auth", row.Id)
	case row.Class == scrolleryv1.Class_CLASS_UNSPECIFIED:
		return nil, fmt.Errorf("operation %s has no class", row.Id)
	case row.Class == scrolleryv1.Class_CLASS_COMPUTATION && (row.Auth != scrolleryv1.Auth_AUTH_KEY || method.IsStreamingServer() || row.Upload || row.Method != "GET"):
		return nil, fmt.Errorf("operation %s is a computation, so it needs GET, a key, and one answer", row.Id)
	}
	input, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	if err != nil {
		return nil, fmt.Errorf("operation %s: %w", row.Id, err)
	}
	output, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
	if err != nil {
		return nil, fmt.Errorf("operation %s: %w", row.Id, err)
	}
	op := &operation{
		Operation: row,
		name:      string(method.Name()),
		procedure: fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()),
		desc:      method,
		bounded:   hasBounds(method.Input()),
		times:     rest.TimesOf(method.Input()),
		bounds:    sync.OnceValues(func() (*bounds.Message, error) { return bounds.Compile(method.Input()) }),
		input:     rest.ShapeOf(method.Input(), shapes),
		output:    rest.ShapeOf(method.Output(), shapes),
		newInput:  func() proto.Message { return input.New().Interface() },
		newOutput: func() proto.Message { return output.New().Interface() },
	}
	switch {
	case op.output.Secret():
		op.caching = cacheNever
	case op.public():
		op.caching = cachePublic
	default:
		op.caching = cachePrivate
	}
	op.list = op.listed()
	if row.Path != "" {
		if err := op.input.Readable(); err != nil {
			return nil, fmt.Errorf("operation %s: %w", row.Id, err)
		}
	}
	return op, nil
}

// listed describes the answer of an operation that lists things: a GET whose name says so
// or that takes a limit, and whose answer has one array of objects. It is nil for others.
func (o *operation) listed() *table.List {
	input := o.desc.Input().Fields()
	named := strings.HasPrefix(o.name, "List") || input.ByName("limit") != nil || input.ByName("page_size") != nil
	if o.Method != "GET" || o.desc.IsStreamingServer() || !named {
		return nil
	}
	member, columns := o.output.Listed()
	if member == "" {
		return nil
	}
	return &table.List{Member: member, Next: "nextCursor", Columns: columns}
}
