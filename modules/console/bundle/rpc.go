package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	used, err := words(filepath.Join(root, "src"))
	if err != nil {
		return err
	}
	slim(&set, used)
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
		content, err := plainText(file.GetContent())
		if err != nil {
			return fmt.Errorf("%s: %w", file.GetName(), err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// embedded is a descriptor in a generated file, and importing what reads it.
var (
	embedded  = regexp.MustCompile(`fileDesc\("([A-Za-z0-9+/]+)"`)
	importing = regexp.MustCompile(`(?m)^import \{ (.*\b)?fileDesc(?:, (.*))? \} from "@bufbuild/protobuf/codegenv2";$`)
)

// plainText writes the descriptor of a generated file as text, a character a byte, instead
// of base64: names that repeat stay the same text, so the script compresses better. What
// generated code calls is then fileDesc of src/api/descriptor.ts.
func plainText(content string) (string, error) {
	found := embedded.FindStringSubmatch(content)
	if found == nil || !importing.MatchString(content) {
		return "", errors.New("the generated file has another form")
	}
	raw, err := base64.RawStdEncoding.DecodeString(found[1])
	if err != nil {
		return "", err
	}
	characters := make([]rune, len(raw))
	for i, one := range raw {
		characters[i] = rune(one)
	}
	text, err := json.Marshal(string(characters))
	if err != nil {
		return "", err
	}
	content = strings.Replace(content, found[0], "fileDesc("+string(text), 1)
	if names := importing.FindStringSubmatch(content); names[1]+names[2] == "" { // it has no messages
		return importing.ReplaceAllString(content, "import { fileDesc } from \"../../../src/api/descriptor\";"), nil
	}
	return importing.ReplaceAllString(content, "import { ${1}${2} } from \"@bufbuild/protobuf/codegenv2\";\nimport { fileDesc } from \"../../../src/api/descriptor\";"), nil
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
