package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

func TestACopySaysWhatAProgramChanged(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 10, Total: 40, Entries: 10}
	type changes struct {
		Written []files.File
		Removed []string
	}
	for name, c := range map[string]struct {
		change func(program *files.Folder, dir string) error
		want   changes
	}{
		"nothing":           {func(*files.Folder, string) error { return nil }, changes{}},
		"a new file":        {func(p *files.Folder, _ string) error { return p.Write("c/d", "123") }, changes{Written: []files.File{{Path: "c/d", Size: 3}}}},
		"the same content":  {func(p *files.Folder, _ string) error { return p.Write("a", "one") }, changes{Written: []files.File{{Path: "a", Size: 3}}}},
		"a file is deleted": {func(p *files.Folder, _ string) error { return p.Remove("b/c") }, changes{Removed: []string{"b/c"}}},
		"a file for a link": {func(_ *files.Folder, dir string) error { return relink(filepath.Join(dir, "files", "a")) }, changes{Removed: []string{"a"}}},
		"a name that is bad": {func(_ *files.Folder, dir string) error {
			return os.WriteFile(filepath.Join(dir, "files", "x:y"), nil, 0o600)
		}, changes{}},
		"longer in place": {func(_ *files.Folder, dir string) error { return extend(filepath.Join(dir, "files", "a")) }, changes{Written: []files.File{{Path: "a", Size: 4}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "account")
			given, err := files.NewCopy(dir, limits)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = given.Close() })
			for path, data := range map[string]string{"a": "one", "b/c": "two", "longer than a file may be now": "0123456789abcdef"} {
				if err := given.Give(path, []byte(data)); err != nil {
					t.Fatal(err)
				}
			}
			if err := given.Give("a", []byte("again")); err == nil {
				t.Error("a file was copied twice, want an error")
			}
			program, err := files.Open(dir, limits, false)
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			if got, err := program.Read("b/c"); got != "two" || err != nil {
				t.Fatalf("the program reads %q, %v, want two", got, err)
			}
			if err := c.change(program, dir); err != nil {
				t.Fatal(err)
			}
			var got changes
			if got.Written, got.Removed, err = given.Changes(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func relink(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Symlink("/etc/passwd", path)
}

func extend(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString("x")
	return err
}
