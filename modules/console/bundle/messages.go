package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// firstLanguage is in the script; the others are files that are loaded when they are chosen.
const firstLanguage = "en"

// texts are those of the pages as JSON objects.
type texts struct {
	// languages are all texts by language, but for the first: those that the first script has.
	languages map[string][]byte
	// later are texts of the first language by the name of the script that brings them.
	later map[string][]byte
}

// messages returns the texts by the keys of src/i18n/messages.ts. Node evaluates the file: a text may be built from others.
func messages(ctx context.Context, folder string) (*texts, error) {
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
	script := append(result.OutputFiles[0].Contents, "\nprocess.stdout.write(JSON.stringify([module.exports.messages, module.exports.later]))"...)
	command := exec.CommandContext(ctx, "node", "-")
	command.Stdin, command.Stderr = bytes.NewReader(script), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return nil, err
	}
	var entries map[string]map[string]any
	var later map[string]map[string]any
	if err := json.Unmarshal(answer, &[]any{&entries, &later}); err != nil {
		return nil, err
	}
	languages, parts := map[string]map[string]any{}, map[string]map[string]any{}
	for key, entry := range entries {
		for language, text := range entry {
			if languages[language] == nil {
				languages[language] = map[string]any{}
			}
			languages[language][key] = text
		}
	}
	for part, keys := range later {
		parts[part] = map[string]any{}
		for key := range keys {
			parts[part][key] = languages[firstLanguage][key]
			delete(languages[firstLanguage], key)
		}
	}
	all := &texts{languages: map[string][]byte{}, later: map[string][]byte{}}
	for language, texts := range languages {
		if all.languages[language], err = json.Marshal(texts); err != nil {
			return nil, err
		}
	}
	for part, texts := range parts {
		if all.later[part], err = json.Marshal(texts); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// builtIn answers the import `messages:first` with the texts of the first language that the first script has, and
// `messages:` with the name of a script with those that it brings.
func builtIn(t *texts) api.Plugin {
	return api.Plugin{Name: "messages", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^messages:"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: strings.TrimPrefix(args.Path, "messages:"), Namespace: "messages"}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "messages"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			contents, ok := string(t.later[args.Path]), t.later[args.Path] != nil
			if args.Path == "first" {
				contents, ok = string(t.languages[firstLanguage]), true
			}
			if !ok {
				return api.OnLoadResult{}, fmt.Errorf("no texts are kept for %q", args.Path)
			}
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJSON}, nil
		})
	}}
}
