package docs_test

import (
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLayoutListsEveryFolder compares the tables of layout.md with the folders that
// have source files. Generated code is one folder each: ent and proto/gen. What make
// writes into bin is no part of the tree.
func TestLayoutListsEveryFolder(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([a-z0-9_/]+)/` \\| \\S").FindAllStringSubmatch(read(t, "layout.md"), -1) {
		listed = append(listed, match[1])
	}
	slices.Sort(listed)
	want := sourceFolders(t)
	if len(want) < 40 {
		t.Fatalf("only %d folders were found: %q", len(want), want)
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("folders of layout.md (-want +got):\n%s", diff)
	}
}

// sourceFolders returns the folders with source files, sorted.
func sourceFolders(t *testing.T) []string {
	t.Helper()
	folders := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if entry.IsDir() {
			if entry.Name() == "testdata" || inside == "bin" || strings.HasPrefix(entry.Name(), ".") && path != ".." {
				return fs.SkipDir
			}
			return nil
		}
		folder := inside[:max(strings.LastIndexByte(inside, '/'), 0)]
		if folder == "" || !slices.Contains([]string{".go", ".proto", ".py"}, filepath.Ext(inside)) {
			return nil
		}
		folders[generatedInto(folder)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(folders))
}

// generatedInto returns the top of generated code, or the folder itself.
func generatedInto(folder string) string {
	switch {
	case strings.HasPrefix(folder, "proto/gen/"):
		return "proto/gen"
	case strings.HasPrefix(folder, "ent/") && !strings.HasPrefix(folder, "ent/schema") && !strings.HasPrefix(folder, "ent/migrate"):
		return "ent"
	}
	return folder
}
