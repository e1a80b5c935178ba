package kit

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// The packages of other languages, without what is made from the protocol.
//
//go:embed all:python all:typescript
var packages embed.FS

// Package returns the files of a language's package: what a wheel, or a tarball of npm, is
// built from.
func Package(lang string) (map[string][]byte, error) {
	folder, made := "python", madeForPython
	switch lang {
	case python:
	case typescript:
		folder, made = "typescript", madeForTypeScript
	default:
		return nil, fmt.Errorf("lang %q: want %s or %s", lang, python, typescript)
	}
	files, err := made()
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(packages, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, "__pycache__") {
			return err
		}
		files[strings.TrimPrefix(path, folder+"/")], err = packages.ReadFile(path)
		return err
	})
	return files, err
}

// packageFiles are the files of the package as a new plugin has them.
func packageFiles(lang string) (map[string][]byte, error) {
	files, err := Package(lang)
	if err != nil {
		return nil, err
	}
	placed := map[string][]byte{}
	for name, text := range files {
		switch {
		case lang == typescript:
			placed["scrollery-stage/"+name] = text
		case strings.HasPrefix(name, "scrollery_stage/"):
			placed[name] = text
		}
	}
	return placed, nil
}

// protocol are the files of the protocol.
func protocol() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		stagev1.File_scrollery_stage_v1_stage_proto, stagev1.File_scrollery_stage_v1_record_proto, stagev1.File_scrollery_stage_v1_stage_service_proto,
	}
}

// madeForPython are the descriptors of the protocol, and the bounds of its fields.
func madeForPython() (map[string][]byte, error) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range protocol() {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return nil, err
	}
	bounds, err := json.Marshal(stage.Bounds())
	return map[string][]byte{"scrollery_stage/stage.binpb": raw, "scrollery_stage/bounds.json": bounds}, err
}

// madeForTypeScript are the fields of each message with their bounds, and their types for the compiler.
func madeForTypeScript() (map[string][]byte, error) {
	// A map's entries, which have no message of their own there.
	schema := map[string][][]any{"Entry": {{1, "key", "string", false, false, ""}, {2, "value", "string", false, false, ""}}}
	bounds, types := stage.Bounds(), &strings.Builder{}
	types.WriteString("// The messages of scrollery.stage.v1. Bytes may be given as text.\n")
	for _, file := range protocol() {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			name := string(message.Name())
			fields := [][]any{}
			fmt.Fprintf(types, "export interface %s {", name)
			for j := range message.Fields().Len() {
				field := message.Fields().Get(j)
				kind, script, of := kindOf(field)
				row := []any{field.Number(), field.JSONName(), kind, field.IsList(), field.HasPresence(), of}
				if bound, has := bounds[name+"."+string(field.Name())]; has {
					row = append(row, bound)
				}
				fields = append(fields, row)
				if field.IsList() {
					script += "[]"
				}
				fmt.Fprintf(types, " %s?: %s;", field.JSONName(), script)
			}
			types.WriteString(" }\n")
			schema[name] = fields
		}
	}
	text, err := json.Marshal(schema)
	return map[string][]byte{
		"schema.js":     []byte("// The fields of each message: number, name, type, repeated, present or not, message, bound.\nexport const schema = " + string(text) + ";\n"),
		"messages.d.ts": []byte(types.String()),
	}, err
}

// kindOf names the type of a field for the codec, and for the compiler.
func kindOf(field protoreflect.FieldDescriptor) (kind, script, of string) {
	switch {
	case field.IsMap():
		return "map", "{ [name: string]: string }", ""
	case field.Message() != nil:
		of = string(field.Message().Name())
		return "message", of, of
	}
	switch field.Kind() {
	case protoreflect.StringKind:
		return "string", "string", ""
	case protoreflect.BytesKind:
		return "bytes", "Uint8Array | string", ""
	case protoreflect.BoolKind:
		return "bool", "boolean", ""
	case protoreflect.DoubleKind:
		return "double", "number", ""
	default:
		return "int64", "number", ""
	}
}

// WritePackage writes the files of a language's package into an empty or new folder.
func WritePackage(lang, dir string) error {
	files, err := Package(lang)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty", dir))
	}
	for name, text := range files {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	return nil
}
