// Command export writes the public .proto files into a folder that needs nothing else:
// the API and the plugin protocol, without the options that only the server reads. The API
// is proto3, which older compilers read, as proto/gen/api.binpb has it.
//
// Usage: export DIR. What DIR had before is deleted. DIR/descriptors.binpb is the image of
// the same files.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	source = "proto"
	api    = "scrollery/v1"
)

// public are the packages for others. The rest is between the server and its own processes.
var public = []string{api, "scrollery/stage/v1"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: export DIR")
		os.Exit(2)
	}
	if err := export(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func export(ctx context.Context, dir string) error {
	if err := clear(dir); err != nil {
		return err
	}
	var names []string
	for _, folder := range public {
		files, err := filepath.Glob(filepath.Join(source, folder, "*.proto"))
		if err != nil {
			return err
		}
		for _, path := range files {
			name := folder + "/" + filepath.Base(path)
			if name == optionsFile {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if text, err = strip(name, text, folder == api); err != nil {
				return err
			}
			if err := write(filepath.Join(dir, name), text); err != nil {
				return err
			}
			names = append(names, name)
		}
	}
	image, err := compile(ctx, dir, names)
	if err != nil {
		return fmt.Errorf("the exported files do not stand alone: %w", err)
	}
	return write(filepath.Join(dir, "descriptors.binpb"), image)
}

// clear deletes an earlier export. It refuses a folder that has anything else.
func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "scrollery" && name != "descriptors.binpb" {
			return fmt.Errorf("%s has %s, which is no export", dir, name)
		}
	}
	return os.RemoveAll(dir)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// compile links the files with nothing but each other and what every compiler has, and
// returns their image.
func compile(ctx context.Context, dir string, names []string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	for _, file := range files {
		for i := range file.Imports().Len() {
			known := file.Imports().Get(i).FileDescriptor
			if strings.HasPrefix(known.Path(), "google/") && !seen[known.Path()] {
				seen[known.Path()] = true
				set.File = append(set.File, protodesc.ToFileDescriptorProto(known))
			}
		}
	}
	for _, file := range files {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(set)
}
