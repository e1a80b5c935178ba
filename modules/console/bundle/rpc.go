package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// requestFor asks for a file of TypeScript for each file of the API.
func requestFor(set *descriptorpb.FileDescriptorSet) *pluginpb.CodeGeneratorRequest {
	request := &pluginpb.CodeGeneratorRequest{Parameter: proto.String("target=ts,import_extension=none"), ProtoFile: set.File}
	for _, file := range set.File {
		if strings.HasPrefix(file.GetName(), "scrollery/v1/") {
			request.FileToGenerate = append(request.FileToGenerate, file.GetName())
		}
	}
	return request
}
