package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// firstLanguage is in the script; the others are files that are loaded when they are chosen.
const firstLanguage = "en"

// messages returns the texts of each language as JSON, by the keys of src/i18n/messages.ts.
// Node evaluates the file: a text may be built from others.
func messages(ctx context.Context, folder string) (map[string][]byte, error) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: folder,
		EntryPoints:   []string{"src/i18n/messages.ts"},
		Bundle:        true,
		Format:        api.FormatCommonJS,
		Platform:      api.PlatformNode,
		LogLevel:      api.LogLevelWarning,
	})
	if len(result.Errors) > 0 || len(result.OutputFiles) != 1 {
		return nil, errors.New("esbuild reported errors")
	}
	script := append(result.OutputFiles[0].Contents, "\nprocess.stdout.write(JSON.stringify(module.exports.messages))"...)
	command := exec.CommandContext(ctx, "node", "-")
	command.Stdin, command.Stderr = bytes.NewReader(script), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return nil, err
	}
	var entries map[string]map[string]any
	if err := json.Unmarshal(answer, &entries); err != nil {
		return nil, err
	}
	languages := map[string]map[string]any{}
	for key, entry := range entries {
		for language, text := range entry {
			if languages[language] == nil {
				languages[language] = map[string]any{}
			}
			languages[language][key] = text
		}
	}
	files := map[string][]byte{}
	for language, texts := range languages {
		if files[language], err = json.Marshal(texts); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// builtIn answers the import `messages:first` with the texts of the first language.
func builtIn(languages map[string][]byte) api.Plugin {
	const name = "messages:first"
	return api.Plugin{Name: "messages", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^" + name + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: name, Namespace: "messages"}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "messages"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			contents := string(languages[firstLanguage])
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJSON, ResolveDir: filepath.Dir(name)}, nil
		})
	}}
}
