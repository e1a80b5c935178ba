// Command generate turns the .proto files of this repository into Go.
//
// It compiles them itself, so neither protoc nor buf nor the network is needed:
// imports from elsewhere resolve from the descriptors linked into this program.
// It writes proto/gen: Go code, the descriptor set that buf lint and buf breaking read, the
// set that clients are generated from, and the OpenAPI document.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	source = "proto"
	output = "proto/gen"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	names, err := protoFiles()
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{source}},
			protocompile.ResolverFunc(linked),
		},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	set := descriptorSet(files)
	if err := os.RemoveAll(output); err != nil {
		return err
	}
	plugins := []struct {
		tool, parameter string
		wanted          func(name string) bool
	}{
		{"protoc-gen-go", "paths=source_relative", func(string) bool { return true }},
		{"protoc-gen-connect-go", "paths=source_relative,simple", isAPI},
		{"protoc-gen-go-grpc", "paths=source_relative", func(name string) bool { return !isAPI(name) }},
	}
	for _, plugin := range plugins {
		var wanted []string
		for _, name := range names {
			if plugin.wanted(name) {
				wanted = append(wanted, name)
			}
		}
		if err := generate(ctx, plugin.tool, plugin.parameter, wanted, set); err != nil {
			return fmt.Errorf("%s: %w", plugin.tool, err)
		}
	}
	image, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(output, "descriptors.binpb"), image, 0o644); err != nil {
		return err
	}
	public, err := publicSet(image)
	if err != nil {
		return err
	}
	if image, err = (proto.MarshalOptions{Deterministic: true}).Marshal(public); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(output, "api.binpb"), image, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(output, "api.files"), []byte(apiFiles(public)), 0o644); err != nil {
		return err
	}
	// A separate program: it reads the options through the Go code that was just generated.
	describe := exec.CommandContext(ctx, "go", "run", "./proto/generate/openapi")
	describe.Stderr = os.Stderr
	if err := describe.Run(); err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return nil
}

// isAPI reports whether a file belongs to the public API. The plugin protocols use plain gRPC.
func isAPI(name string) bool { return strings.HasPrefix(name, "scrollery/v1/") }

func protoFiles() ([]string, error) {
	var names []string
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".proto") {
			name, _ := filepath.Rel(source, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	sort.Strings(names)
	return names, err
}

func linked(name string) (protocompile.SearchResult, error) {
	file, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Proto: protodesc.ToFileDescriptorProto(file)}, nil
}

// descriptorSet lists each file after its imports.
func descriptorSet(files linker.Files) *descriptorpb.FileDescriptorSet {
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		imports := file.Imports()
		for i := range imports.Len() {
			add(imports.Get(i).FileDescriptor)
		}
		set.File = append(set.File, fileProto(file))
	}
	for _, file := range files {
		add(file)
	}
	return set
}

func fileProto(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if result, ok := file.(linker.Result); ok {
		return result.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(file)
}

func generate(ctx context.Context, tool, parameter string, names []string, set *descriptorpb.FileDescriptorSet) error {
	if len(names) == 0 {
		return nil
	}
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String(parameter),
		ProtoFile:      set.File,
	})
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "tool", tool)
	command.Stdin = bytes.NewReader(request)
	command.Stderr = os.Stderr
	answer, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", *response.Error)
	}
	for _, file := range response.File {
		path := filepath.Join(output, file.GetName())
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
