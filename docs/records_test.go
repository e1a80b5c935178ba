package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestRecordsAreWrittenDown: the tables in the extenders' reference are what the .proto files say.
func TestRecordsAreWrittenDown(t *testing.T) {
	t.Parallel()
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal([]byte(read(t, "../proto/gen/descriptors.binpb")), &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	var tables strings.Builder
	for _, one := range []struct {
		message protoreflect.FullName
		title   string
	}{
		{"scrollery.stage.v1.Record", "`Record`, a video"},
		{"scrollery.stage.v1.Ref", "`Record.ref`"},
		{"scrollery.stage.v1.Source", "`Record.source`"},
		{"scrollery.stage.v1.Metrics", "`Record.metrics`"},
		{"scrollery.stage.v1.Evidence", "`Record.evidence`"},
		{"scrollery.stage.v1.Cue", "`Record.cues`"},
		{"scrollery.stage.v1.Sticker", "`Record.stickers`"},
		{"scrollery.stage.v1.Key", "`Record.keys`"},
		{"scrollery.stage.v1.Outcome", "`Outcome`"},
		{"scrollery.v1.VideoMetadata", "Members of `metadata_json` that the server reads"},
	} {
		found, err := files.FindDescriptorByName(one.message)
		if err != nil {
			t.Fatal(err)
		}
		fields := found.(protoreflect.MessageDescriptor).Fields()
		bounded := one.message.Parent() == "scrollery.stage.v1"
		fmt.Fprintf(&tables, "\n| %s | Type |%s |\n|---|---|%s---|\n", one.title, map[bool]string{true: " Bounds |"}[bounded], map[bool]string{true: "---|"}[bounded])
		for i := range fields.Len() {
			field := fields.Get(i)
			name := string(field.Name())
			kind := typeOf(field)
			if bounded {
				bound := stage.Bounds()[string(one.message.Name())+"."+name]
				if bound.Needed {
					bound.Want = "needed: " + bound.Want
				}
				kind += " | " + bound.Want
			}
			if !bounded { // JSON in every language
				name = field.JSONName()
			} else if field.JSONName() != name {
				name += "`, `" + field.JSONName()
			}
			comment := strings.Join(strings.Fields(field.ParentFile().SourceLocations().ByDescriptor(field).LeadingComments), " ")
			fmt.Fprintf(&tables, "| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(comment, "|", "\\|"))
		}
	}
	written(t, "extenders-reference.md", "<!-- records: written by go test ./docs -update -->\n", "<!-- end of records -->", tables.String()+"\n")
}

// typeOf is the type of a field for people.
func typeOf(field protoreflect.FieldDescriptor) string {
	name := map[protoreflect.Kind]string{
		protoreflect.StringKind: "text", protoreflect.BytesKind: "bytes", protoreflect.BoolKind: "bool", protoreflect.Int64Kind: "whole number", protoreflect.DoubleKind: "number",
	}[field.Kind()]
	if field.Message() != nil {
		name = "`" + string(field.Message().Name()) + "`"
	}
	if field.IsList() {
		name = "list of " + name
	}
	return name
}
