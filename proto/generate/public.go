package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// needless are the imports whose options only the server reads. Without them a client
// needs no file of others, and the descriptors that it carries are a quarter smaller.
var needless = []string{"buf/validate/validate.proto", "scrollery/v1/operation.proto"}

// publicSet returns the public API and what it imports of Google's types, as proto3: compilers
// that are older than editions read it, too.
func publicSet(image []byte) (*descriptorpb.FileDescriptorSet, error) {
	var all, public descriptorpb.FileDescriptorSet
	// No option is known here, so those of others are unknown fields, which strip removes.
	if err := (proto.UnmarshalOptions{Resolver: new(protoregistry.Types)}).Unmarshal(image, &all); err != nil {
		return nil, fmt.Errorf("read the descriptors: %w", err)
	}
	used := map[string]bool{}
	for _, file := range slices.Backward(all.File) { // each file comes after its imports
		name := file.GetName()
		if !isAPI(name) && !used[name] || slices.Contains(needless, name) {
			continue
		}
		if isAPI(name) {
			strip(file)
		} else if !strings.HasPrefix(name, "google/protobuf/") {
			return nil, fmt.Errorf("the API imports %s", name)
		}
		for _, imported := range file.Dependency {
			used[imported] = true
		}
		public.File = append(public.File, file)
	}
	slices.Reverse(public.File)
	return &public, nil
}

// apiFiles names the files of the API, one a line: protoc reads it as `@api.files`.
func apiFiles(public *descriptorpb.FileDescriptorSet) string {
	var names strings.Builder
	for _, file := range public.File {
		if isAPI(file.GetName()) {
			names.WriteString(file.GetName() + "\n")
		}
	}
	return names.String()
}

// strip removes the imports of needless files and the options that they define.
//
// It also writes the file as proto3, which means the same: there, the TypeScript of a field
// that may be missing is `number | undefined`. Of editions it is a number, and one that is
// missing reads as 0.
func strip(file *descriptorpb.FileDescriptorProto) {
	file.Dependency = slices.DeleteFunc(file.Dependency, func(name string) bool { return slices.Contains(needless, name) })
	file.PublicDependency, file.WeakDependency = nil, nil
	for _, service := range file.Service {
		clean(service.Options)
		for _, method := range service.Method {
			clean(method.Options)
		}
	}
	explicit := presence(file.Options.GetFeatures(), true)
	for _, message := range file.MessageType {
		stripMessage(message, explicit)
	}
	clean(file.Options)
	file.Options.Features = nil
	file.Syntax, file.Edition = proto.String("proto3"), nil
}

// presence reports whether fields may be missing; inherited where features do not say.
func presence(features *descriptorpb.FeatureSet, inherited bool) bool {
	if features.GetFieldPresence() == descriptorpb.FeatureSet_FIELD_PRESENCE_UNKNOWN {
		return inherited
	}
	return features.GetFieldPresence() == descriptorpb.FeatureSet_EXPLICIT
}

func stripMessage(message *descriptorpb.DescriptorProto, explicit bool) {
	clean(message.Options)
	for _, field := range message.Field {
		single := field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL && field.OneofIndex == nil &&
			field.GetType() != descriptorpb.FieldDescriptorProto_TYPE_MESSAGE && !message.GetOptions().GetMapEntry()
		if single && presence(field.Options.GetFeatures(), explicit) {
			field.Proto3Optional = proto.Bool(true)
			field.OneofIndex = proto.Int32(int32(len(message.OneofDecl)))
			message.OneofDecl = append(message.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + field.GetName())})
		}
		clean(field.Options)
		if field.Options != nil {
			field.Options.Features = nil
		}
	}
	for _, inner := range message.NestedType {
		stripMessage(inner, explicit)
	}
}

func clean(options proto.Message) {
	if message := options.ProtoReflect(); message.IsValid() {
		message.SetUnknown(nil)
	}
}
