package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle returns the files of dist by name.
func bundle(ctx context.Context) (map[string][]byte, error) {
	folder, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	texts, err := messages(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("read the messages: %w", err)
	}
	options := api.BuildOptions{
		AbsWorkingDir:       folder,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "console"}, {InputPath: "src/console.css", OutputPath: "console"}},
		Outdir:              "dist",
		Bundle:              true,
		Format:              api.FormatESModule,
		// A file for each group of pages that the console loads later, and for what they share. Their
		// names have a hash: see part in ../console.go.
		Splitting:         true,
		ChunkNames:        "[name]-[hash]",
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone, // licenses.txt has them
		Metafile:          true,
		LogLevel:          api.LogLevelWarning,
		Plugins:           []api.Plugin{builtIn(texts)},
	}
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, errors.New("esbuild reported errors")
	}
	// The page of the operator shares no file of script with the console: each has one.
	options.EntryPointsAdvanced, options.Splitting = []api.EntryPoint{{InputPath: "src/operator/main.tsx", OutputPath: "operator"}}, false
	operator := api.Build(options)
	if len(operator.Errors) > 0 {
		return nil, errors.New("esbuild reported errors")
	}
	files, err := documents(options, folder)
	if err != nil {
		return nil, err
	}
	for language, all := range texts.languages {
		if language != firstLanguage {
			files["messages."+language+".json"] = all
		}
	}
	for _, output := range slices.Concat(result.OutputFiles, operator.OutputFiles) {
		files[filepath.Base(output.Path)] = output.Contents
	}
	if files["licenses.txt"], err = licences(folder, result.Metafile); err != nil {
		return nil, err
	}
	for _, document := range []string{"index.html", "operator.html"} {
		if files[document], err = os.ReadFile(filepath.Join(folder, "src", document)); err != nil {
			return nil, err
		}
	}
	preloads, err := preloadsOf(result.Metafile)
	if err != nil {
		return nil, err
	}
	files["index.html"] = bytes.Replace(files["index.html"], []byte("{preloads}"), []byte(preloads), 1)
	return files, nil
}

// preloadsOf returns the links by which a browser asks for what the first script imports while
// it reads the document, and not after it has read that script.
func preloadsOf(metafile string) (string, error) {
	var meta struct {
		Outputs map[string]struct{ Imports []struct{ Path, Kind string } }
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return "", err
	}
	names := map[string]bool{}
	var follow func(output string)
	follow = func(output string) {
		for _, one := range meta.Outputs[output].Imports {
			if one.Kind == "import-statement" && !names[path.Base(one.Path)] {
				names[path.Base(one.Path)] = true
				follow(one.Path)
			}
		}
	}
	follow("dist/console.js")
	var links strings.Builder
	for _, name := range sortedKeys(names) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"/console/%s\">\n", name)
	}
	return strings.TrimSpace(links.String()), nil
}

// apacheText is a package with the text of the Apache licence, which the packages of
// Buf do not repeat.
const apacheText = "typescript/LICENSE"

// licences returns the licence of every package with a file in the bundle, and the
// copyright notices of the files.
func licences(folder, metafile string) ([]byte, error) {
	var meta struct {
		Outputs map[string]struct {
			Inputs map[string]struct{ BytesInOutput int }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	packages, notices := map[string]bool{}, map[string]bool{}
	for _, output := range meta.Outputs {
		for input, part := range output.Inputs {
			name, ok := packageOf(input)
			if !ok || part.BytesInOutput == 0 {
				continue
			}
			packages[name] = true
			notice, err := noticeOf(filepath.Join(folder, filepath.FromSlash(input)))
			if err != nil {
				return nil, err
			}
			if strings.Contains(notice, "Copyright") {
				notices[notice] = true
			}
		}
	}
	var text strings.Builder
	text.WriteString("The console contains these packages.\n")
	for _, name := range sortedKeys(packages) {
		if err := licence(&text, filepath.Join(folder, "node_modules", filepath.FromSlash(name))); err != nil {
			return nil, fmt.Errorf("licence of %s: %w", name, err)
		}
	}
	text.WriteString("\nNotices of single files:\n")
	for _, notice := range sortedKeys(notices) {
		fmt.Fprintf(&text, "\n%s\n", notice)
	}
	apache, err := os.ReadFile(filepath.Join(folder, "node_modules", filepath.FromSlash(apacheText)))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&text, "\n%s\n", strings.TrimSpace(string(apache)))
	return []byte(text.String()), nil
}

// noticeOf returns the comments at the head of a file.
func noticeOf(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "//") {
			break
		}
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "//")))
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), nil
}

// packageOf returns the package of a bundled file: `@scope/name` or `name`.
func packageOf(input string) (string, bool) {
	_, inside, ok := strings.Cut(input, "node_modules/")
	if !ok {
		return "", false
	}
	parts := strings.Split(inside, "/")
	if strings.HasPrefix(inside, "@") && len(parts) > 1 {
		return path.Join(parts[0], parts[1]), true
	}
	return parts[0], true
}

func licence(text *strings.Builder, folder string) error {
	raw, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	var manifest struct{ Name, Version, License string }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return err
	}
	if manifest.License == "" {
		return errors.New("package.json names none")
	}
	fmt.Fprintf(text, "\n%s %s (%s)\n", manifest.Name, manifest.Version, manifest.License)
	found, err := filepath.Glob(filepath.Join(folder, "LICENSE*"))
	if err != nil {
		return err
	}
	for _, file := range found {
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n%s\n", strings.TrimSpace(string(body)))
	}
	return nil
}
