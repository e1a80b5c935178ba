package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// apps are the pages that hosts of agents show: each is one document, with its script and
// its style inside, since its frame may fetch nothing.
var apps = []string{"outliers", "coverage"}

// documents returns the pages of apps by their names in dist. They bundle no package that the
// console does not: its licences are theirs.
func documents(options api.BuildOptions, folder string) (map[string][]byte, error) {
	options.Splitting, options.EntryPointsAdvanced = false, []api.EntryPoint{{InputPath: "src/apps/app.css", OutputPath: "app"}}
	for _, name := range apps {
		options.EntryPointsAdvanced = append(options.EntryPointsAdvanced, api.EntryPoint{InputPath: "src/apps/" + name + ".tsx", OutputPath: name})
	}
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, errors.New("esbuild reported errors")
	}
	built := map[string]string{}
	for _, output := range result.OutputFiles {
		built[filepath.Base(output.Path)] = string(output.Contents)
	}
	shell, err := os.ReadFile(filepath.Join(folder, "src", "apps", "app.html"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range apps {
		style, script := built["app.css"], built[name+".js"]
		if style == "" || script == "" || strings.Contains(style, "</style") || slices.ContainsFunc([]string{"</script", "<!--"}, func(s string) bool { return strings.Contains(script, s) }) {
			return nil, fmt.Errorf("the app %s cannot stand in a document", name)
		}
		page := bytes.Replace(shell, []byte("{style}"), []byte(strings.TrimSpace(style)), 1)
		files["app-"+name+".html"] = bytes.Replace(page, []byte("{script}"), []byte(strings.TrimSpace(script)), 1)
	}
	return files, nil
}
