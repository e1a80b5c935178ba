package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"
)

func TestExport(t *testing.T) {
	t.Chdir("../../..")
	dir := filepath.Join(t.TempDir(), "protos")
	for range 2 { // the second time replaces the first
		if err := export(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	got := image(t, filepath.Join(dir, "descriptors.binpb"))
	want := image(t, "proto/gen/api.binpb")
	for name, file := range image(t, "proto/gen/descriptors.binpb") {
		if strings.HasPrefix(name, "scrollery/stage/v1/") {
			want[name] = file
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("got %s, want it left out", name)
		}
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			if got[name] == nil {
				t.Fatalf("got nothing, want %s", name)
			}
			if strings.HasPrefix(name, "google/") {
				return
			}
			if diff := cmp.Diff(plain(want), plain(got[name]), protocmp.Transform()); diff != "" {
				t.Errorf("the exported file says something else (-want +got):\n%s", diff)
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, private := range []string{"buf/validate", "buf.validate", "operation.proto", "(operation)"} {
				if strings.Contains(string(text), private) {
					t.Errorf("got %q in the text, want no option of the server", private)
				}
			}
		})
	}
}

func TestStrip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		proto3   bool
	}{
		"all options go":          {in: `message M { string a = 1 [(x).y = 2, (z) = "]"]; }`, want: `message M { string a = 1; }`},
		"an ordinary one stays":   {in: `message M { string a = 1 [deprecated = true]; }`, want: `message M { string a = 1 [deprecated = true]; }`},
		"the first goes":          {in: `message M { string a = 1 [(x) = 2, deprecated = true]; }`, want: `message M { string a = 1 [deprecated = true]; }`},
		"the last goes":           {in: `message M { string a = 1 [deprecated = true, (x) = {a: [1, 2]}]; }`, want: `message M { string a = 1 [deprecated = true]; }`},
		"the middle one goes":     {in: `message M { string a = 1 [deprecated = true, (x) = 2, json_name = "b"]; }`, want: `message M { string a = 1 [deprecated = true, json_name = "b"]; }`},
		"an rpc without a body":   {in: "service S {\n  rpc A(M) returns (M) {\n    option (operation) = {id: \"a\"};\n  }\n}\n", want: "service S {\n  rpc A(M) returns (M);\n}\n"},
		"an rpc keeps the others": {in: "service S {\n  rpc A(M) returns (M) {\n    option deprecated = true;\n    option (x) = 1;\n  }\n}\n", want: "service S {\n  rpc A(M) returns (M) {\n    option deprecated = true;\n  }\n}\n"},
		"imports of options go":   {in: "import \"buf/validate/validate.proto\";\nimport \"a.proto\";\n", want: "import \"a.proto\";\n"},
		"an option of a message":  {in: "message M {\n  option (form) = {name: \"A\"};\n  string a = 1; // stays\n}\n", want: "message M {\n  string a = 1; // stays\n}\n"},
		"proto3 has optional fields": {
			proto3: true,
			in:     "option features.field_presence = IMPLICIT;\nmessage M {\n  string a = 1 [features.field_presence = EXPLICIT];\n  string b = 2;\n  N c = 3;\n}\n",
			want:   "message M {\n  optional string a = 1;\n  string b = 2;\n  N c = 3;\n}\n",
		},
		"proto3 where fields are explicit": {
			proto3: true,
			in:     "message M {\n  // text\n  string a = 1;\n  bool b = 2 [features.field_presence = IMPLICIT, deprecated = true];\n  repeated string c = 3;\n  oneof d { string e = 4; }\n}\n",
			want:   "message M {\n  // text\n  optional string a = 1;\n  bool b = 2 [deprecated = true];\n  repeated string c = 3;\n  oneof d { string e = 4; }\n}\n",
		},
		"options that are no more": {in: `message M { string a = 1; }`, want: `message M { string a = 1; }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := "edition = \"2023\";\n"
			got, err := strip("a.proto", []byte(head+c.in), c.proto3)
			if err != nil {
				t.Fatal(err)
			}
			if c.proto3 {
				head = "syntax = \"proto3\";\n"
			}
			if diff := cmp.Diff(head+c.want, string(got)); diff != "" {
				t.Errorf("stripped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExportKeepsFoldersOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := export(t.Context(), dir); err == nil {
		t.Error("got no error, want a refusal of a folder with other files")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("got %v, want the file to stay", err)
	}
}

func image(t *testing.T, path string) map[string]*descriptorpb.FileDescriptorProto {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, file := range set.File {
		files[file.GetName()] = file
	}
	return files
}

// plain is a file without positions, custom options and the imports that these need.
func plain(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	file = proto.CloneOf(file)
	file.SourceCodeInfo = nil
	file.Dependency = slices.DeleteFunc(file.Dependency, func(name string) bool { return slices.Contains(serverOnly, name) })
	_ = protorange.Range(file.ProtoReflect(), func(at protopath.Values) error {
		message, ok := at.Index(-1).Value.Interface().(protoreflect.Message)
		if !ok {
			return nil
		}
		message.SetUnknown(nil)
		message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			empty := field.Message() != nil && !field.IsList() && !field.IsMap() && field.Name() == "options" && proto.Size(known(value.Message())) == 0
			if field.IsExtension() || empty {
				message.Clear(field)
			}
			return true
		})
		return nil
	})
	return file
}

// known removes the extensions of a message.
func known(message protoreflect.Message) proto.Message {
	message.SetUnknown(nil)
	message.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if field.IsExtension() {
			message.Clear(field)
		}
		return true
	})
	return message.Interface()
}
