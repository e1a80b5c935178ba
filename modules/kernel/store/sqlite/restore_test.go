package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestoreIsFinishedFromEveryStep cuts the moves of a restore off after each of them, also where
// the data folder had no file of a name.
func TestRestoreIsFinishedFromEveryStep(t *testing.T) {
	t.Parallel()
	m := Moves{Part: ".restore", Aside: "aside", Away: []string{Name, Name + "-wal", "sandbox"}, Put: []string{Name, "sandbox", "tokens"}}
	for cut := range len(m.Away) + len(m.Put) + 1 {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(text string, path ...string) {
				path = append([]string{dir}, path...)
				name := filepath.Join(path...)
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range m.Away {
				write("old", name)
			}
			for _, name := range m.Put {
				write("new", m.Part, name)
			}
			if err := m.Begin(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, m.Aside), 0o700); err != nil {
				t.Fatal(err)
			}
			for i, name := range append(append([]string(nil), m.Away...), m.Put...) {
				if i == cut {
					break
				}
				from, to := dir, filepath.Join(dir, m.Aside)
				if i >= len(m.Away) {
					from, to = filepath.Join(dir, m.Part), dir
				}
				if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := Finish(dir); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]string{}
			err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				name, err := filepath.Rel(dir, path)
				text, readErr := os.ReadFile(path)
				got[name] = string(text)
				return errors.Join(err, readErr)
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"aside/" + Name: "old", "aside/" + Name + "-wal": "old", "aside/sandbox": "old", Name: "new", "sandbox": "new", "tokens": "new",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
