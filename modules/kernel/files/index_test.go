package files_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

// text returns an error's text, or "" for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestAnIndexAgreesWithAFolder makes the same random changes in both. Names are chosen so
// that files and folders meet, and limits so that both are reached.
func TestAnIndexAgreesWithAFolder(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 1000, Total: 4000, Entries: 12}
	folder, _ := open(t, limits)
	index := files.NewIndex()
	names := []string{"a", "a.txt", "a/b", "a/b/c", "a/b.js", "d/e/f", "d/e", "d", "g", "h/i/j/k", "../x", "con"}
	refused := map[string]int{}
	for n := range 3000 {
		name := names[rand.IntN(len(names))]
		if rand.IntN(3) == 0 {
			var missing *files.Error
			if err := folder.Remove(name); err != nil && !errors.As(err, &missing) {
				t.Fatal(err)
			} else if removed := index.Remove(name); removed != (err == nil) {
				t.Fatalf("remove %q: got %t from the index, want as from the folder: %v", name, removed, err)
			}
		} else {
			size := rand.IntN(1100)
			inFolder, inIndex := folder.Write(name, strings.Repeat("x", size)), index.Write(limits, name, int64(size))
			if text(inFolder) != text(inIndex) {
				t.Fatalf("write %q of %d bytes: got %v from the index, want %v as from the folder", name, size, inIndex, inFolder)
			}
			refused[fmt.Sprintf("%.12s", text(inFolder))]++
		}
		if n%10 != 0 {
			continue
		}
		want, err := folder.List()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, index.List()); diff != "" {
			t.Fatalf("after %d changes the index differs from the folder (-want +got):\n%s", n, diff)
		}
	}
	for _, want := range []string{"", "the sandbox ", "the path bel", `"a" is not a`, "a file has a"} {
		if refused[want] == 0 {
			t.Errorf("no write ended with %q: %v", want, refused)
		}
	}
}
