package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// own is the package of the API; files of others are left as they are.
const own = "scrollery.v1"

// words returns the names that the sources of the console mention.
func words(folder string) (map[string]bool, error) {
	name, found := regexp.MustCompile(`\w+`), map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".ts") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, word := range name.FindAll(content, -1) {
			found[string(word)] = true
		}
		return err
	})
	return found, err
}

// slim removes what the console does not use from the descriptors, which the script has
// whole and which hardly compress: methods that no source names, messages that neither a
// kept method nor a source names, and what only the generators of other languages read.
// A removed name that was needed after all fails the check of the types.
func slim(set *descriptorpb.FileDescriptorSet, used map[string]bool) {
	messages, kept := map[string]*descriptorpb.DescriptorProto{}, map[string]bool{}
	for _, file := range set.File {
		for _, message := range file.MessageType {
			messages["."+file.GetPackage()+"."+message.GetName()] = message
		}
	}
	var keep func(name string)
	reach := func(message *descriptorpb.DescriptorProto) {
		for _, field := range message.Field {
			keep(field.GetTypeName())
		}
	}
	keep = func(name string) {
		message, known := messages[name]
		if !known || kept[name] {
			return
		}
		kept[name] = true
		reach(message)
		for _, nested := range message.NestedType {
			reach(nested)
		}
	}
	for _, file := range ownFiles(set) {
		for _, service := range file.Service {
			service.Method = filter(service.Method, func(method *descriptorpb.MethodDescriptorProto) bool { return used[lowerFirst(method.GetName())] })
			for _, method := range service.Method {
				keep(method.GetInputType())
				keep(method.GetOutputType())
			}
		}
		for _, message := range file.MessageType {
			if name := message.GetName(); used[name] || used[name+"Schema"] {
				keep("." + own + "." + name)
			}
		}
	}
	for _, file := range ownFiles(set) {
		file.Options = nil // the package of Go
		file.MessageType = filter(file.MessageType, func(message *descriptorpb.DescriptorProto) bool { return kept["."+own+"."+message.GetName()] })
		for _, message := range file.MessageType {
			slimFields(message)
		}
	}
}

// slimFields removes the oneofs that proto3 declares for optional fields, and labels that
// say the default. `proto3_optional` alone makes a field optional for the runtime.
func slimFields(message *descriptorpb.DescriptorProto) {
	synthetic := map[int32]bool{}
	for _, field := range message.Field {
		if field.GetProto3Optional() {
			synthetic[field.GetOneofIndex()] = true
			field.OneofIndex = nil
		}
		if field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL {
			field.Label = nil
		}
	}
	// Those of proto3 come last, so the indices of the others stay.
	message.OneofDecl = message.OneofDecl[:len(message.OneofDecl)-len(synthetic)]
	for _, nested := range message.NestedType {
		slimFields(nested)
	}
}

func ownFiles(set *descriptorpb.FileDescriptorSet) []*descriptorpb.FileDescriptorProto {
	return filter(set.File, func(file *descriptorpb.FileDescriptorProto) bool { return file.GetPackage() == own })
}

func filter[T any](all []T, wanted func(T) bool) []T {
	var kept []T
	for _, one := range all {
		if wanted(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }
