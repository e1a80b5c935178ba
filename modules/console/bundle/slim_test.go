package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"
)

func TestSlimKeepsWhatTheSourcesName(t *testing.T) {
	t.Parallel()
	const before = `file { name: "a.proto" package: "scrollery.v1" options { go_package: "example.com/a" }
		message_type { name: "GetRequest" oneof_decl { name: "by" } oneof_decl { name: "_q" }
			field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING oneof_index: 0 }
			field { name: "q" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING oneof_index: 1 proto3_optional: true } }
		message_type { name: "GetResponse" field { name: "items" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".scrollery.v1.Item" } }
		message_type { name: "Item" }
		message_type { name: "DropRequest" field { name: "part" number: 1 type: TYPE_MESSAGE type_name: ".scrollery.v1.Part" } }
		message_type { name: "Part" }
		message_type { name: "Error" }
		service { name: "Things"
			method { name: "Get" input_type: ".scrollery.v1.GetRequest" output_type: ".scrollery.v1.GetResponse" }
			method { name: "Drop" input_type: ".scrollery.v1.DropRequest" output_type: ".scrollery.v1.Item" } } }
	file { name: "other.proto" package: "google.protobuf" options { go_package: "example.com/b" } message_type { name: "Any" } }`
	const after = `file { name: "a.proto" package: "scrollery.v1"
		message_type { name: "GetRequest" oneof_decl { name: "by" }
			field { name: "id" number: 1 type: TYPE_STRING oneof_index: 0 }
			field { name: "q" number: 2 type: TYPE_STRING proto3_optional: true } }
		message_type { name: "GetResponse" field { name: "items" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".scrollery.v1.Item" } }
		message_type { name: "Item" }
		message_type { name: "Error" }
		service { name: "Things" method { name: "Get" input_type: ".scrollery.v1.GetRequest" output_type: ".scrollery.v1.GetResponse" } } }
	file { name: "other.proto" package: "google.protobuf" options { go_package: "example.com/b" } message_type { name: "Any" } }`
	var got, want descriptorpb.FileDescriptorSet
	if err := prototext.Unmarshal([]byte(before), &got); err != nil {
		t.Fatal(err)
	}
	if err := prototext.Unmarshal([]byte(after), &want); err != nil {
		t.Fatal(err)
	}
	slim(&got, map[string]bool{"get": true, "ErrorSchema": true})
	if diff := cmp.Diff(&want, &got, protocmp.Transform()); diff != "" {
		t.Errorf("descriptors (-want +got):\n%s", diff)
	}
}

func TestDescriptorsArePlainText(t *testing.T) {
	t.Parallel()
	generated := func(raw string) string {
		return "import { fileDesc, messageDesc } from \"@bufbuild/protobuf/codegenv2\";\nexport const file_a = fileDesc(\"" + base64.RawStdEncoding.EncodeToString([]byte(raw)) + "\", [file_b]);\n"
	}
	for name, test := range map[string]struct{ raw, want string }{
		"letters":  {"a.proto", `"a.proto"`},
		"quotes":   {"a\"b\\c\n", `"a\"b\\c\n"`},
		"any byte": {"\x00\x7f\x80\xff", `"\u0000` + "\x7f\u0080\u00ff" + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plainText(generated(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			want := "import { messageDesc } from \"@bufbuild/protobuf/codegenv2\";\nimport { fileDesc } from \"../../../src/api/descriptor\";\nexport const file_a = fileDesc(" + test.want + ", [file_b]);\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	alone := "import { fileDesc } from \"@bufbuild/protobuf/codegenv2\";\nexport const file_a = fileDesc(\"YQ\");\n"
	want := "import { fileDesc } from \"../../../src/api/descriptor\";\nexport const file_a = fileDesc(\"a\");\n"
	if got, err := plainText(alone); err != nil || got != want {
		t.Errorf("a file without messages: got %q, error %v; want %q", got, err, want)
	}
	if _, err := plainText(strings.Replace(generated("a"), "fileDesc(", "describe(", 1)); err == nil {
		t.Error("a generated file of another form is accepted")
	}
}
