package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// longestDescription is the most characters of a tool's description: every client sends
// all of them to its model, in every conversation.
const longestDescription = 300

// tools describes the operations that are tools. A schema stands alone, without references.
func tools(services []protoreflect.ServiceDescriptor) ([]byte, error) {
	offered := object{}
	for _, service := range services {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			op := operationOf(method)
			if op.GetTool() == nil {
				continue
			}
			text := comment(method)
			switch length := utf8.RuneCountInString(text); {
			case length == 0 || length > longestDescription:
				return nil, fmt.Errorf("tool %s: its comment has %d characters, want 1 to %d", op.Id, length, longestDescription)
			case op.Tool.Title == "" || op.Tool.Toolset == "":
				return nil, fmt.Errorf("tool %s: it needs a title and a toolset", op.Id)
			case method.IsStreamingServer():
				return nil, fmt.Errorf("tool %s: a stream is no tool", op.Id)
			}
			offered[op.Id] = object{"description": text, "inputSchema": toolInput(method.Input())}
		}
	}
	return json.MarshalIndent(offered, "", "  ")
}

// isTime is as the server decides it: such a field is taken as RFC 3339 too.
func isTime(field protoreflect.FieldDescriptor) bool {
	ends := func(end string) bool { return strings.HasSuffix(string(field.Name()), end) }
	return field.Kind() == protoreflect.DoubleKind && slices.ContainsFunc([]string{"_after", "_before", "_at", "since", "until"}, ends)
}

// toolInput is the schema of a tool's arguments: the parameters or the body of the
// operation on REST, without what is deprecated or for people alone.
func toolInput(desc protoreflect.MessageDescriptor) object {
	d := &document{schemas: object{}}
	schema := d.body(desc)
	properties := schema["properties"].(object)
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		people, _ := proto.GetExtension(field.Options(), scrolleryv1.E_NoTool).(bool)
		if options, ok := field.Options().(*descriptorpb.FieldOptions); ok && options.GetDeprecated() || people {
			delete(properties, restName(field))
		}
	}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		property, ok := properties[restName(field)].(object)
		if !ok || field.Kind() != protoreflect.DoubleKind {
			continue
		}
		delete(property, "format") // it is for generators of clients
		if isTime(field) {
			property["type"] = []any{"number", "string"}
		}
	}
	for name, property := range properties {
		text := property.(object)["description"]
		if property.(object)["$ref"] == nil {
			continue
		}
		free := d.annotations() // the only reference that an input has
		if free["$ref"] != property.(object)["$ref"] {
			panic(fmt.Sprintf("%s.%s: a tool's input has no references", desc.FullName(), name))
		}
		whole := d.schemas["AgentMetadata"].(object)
		whole["description"] = text
		properties[name] = whole
	}
	return schema
}
