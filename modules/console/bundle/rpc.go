package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const generated = "gen"

// generate writes the TypeScript clients of the API into gen, with protoc-gen-es.
func generate(ctx context.Context) error {
	image, err := os.ReadFile(descriptors)
	if err != nil {
		return err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(image, &set); err != nil {
		return err
	}
	request, err := proto.Marshal(requestFor(&set))
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(root, "node_modules", ".bin", "protoc-gen-es"))
	command.Stdin, command.Stderr = bytes.NewReader(request), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(*response.Error)
	}
	folder := filepath.Join(root, generated)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, file := range response.File {
		path := filepath.Join(folder, filepath.FromSlash(file.GetName()))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// needless are the imports whose options only the server reads. Without them the
// descriptors in the bundle are a quarter smaller.
var needless = []string{"buf/validate/validate.proto", "scrollery/v1/operation.proto"}

func requestFor(set *descriptorpb.FileDescriptorSet) *pluginpb.CodeGeneratorRequest {
	request := &pluginpb.CodeGeneratorRequest{Parameter: proto.String("target=ts,import_extension=none")}
	for _, file := range set.File {
		name := file.GetName()
		ours := strings.HasPrefix(name, "scrollery/v1/")
		if slices.Contains(needless, name) || !ours && !strings.HasPrefix(name, "google/protobuf/") {
			continue
		}
		if ours {
			strip(file)
			request.FileToGenerate = append(request.FileToGenerate, name)
		}
		request.ProtoFile = append(request.ProtoFile, file)
	}
	return request
}

// strip removes the imports of needless files and the options that they define. This
// program does not link them, so they are the unknown fields of options.
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
