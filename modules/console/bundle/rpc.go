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
func strip(file *descriptorpb.FileDescriptorProto) {
	file.Dependency = slices.DeleteFunc(file.Dependency, func(name string) bool { return slices.Contains(needless, name) })
	file.PublicDependency, file.WeakDependency = nil, nil
	for _, service := range file.Service {
		clean(service.Options)
		for _, method := range service.Method {
			clean(method.Options)
		}
	}
	for _, message := range file.MessageType {
		stripMessage(message)
	}
	clean(file.Options)
}

func stripMessage(message *descriptorpb.DescriptorProto) {
	clean(message.Options)
	for _, field := range message.Field {
		clean(field.Options)
	}
	for _, inner := range message.NestedType {
		stripMessage(inner)
	}
}

func clean(options proto.Message) {
	if message := options.ProtoReflect(); message.IsValid() {
		message.SetUnknown(nil)
	}
}
