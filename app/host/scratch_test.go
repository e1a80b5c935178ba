package host_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
)

// TestStrangersFoldersStay: a host that starts in a folder that others use deletes
// nothing that no host made, however old it is.
func TestStrangersFoldersStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-72 * time.Hour)
	for name, stays := range map[string]bool{
		"media-photos/a.jpg":          true,
		"media-2024/a.jpg":            true,  // a name of ours, without the mark
		"stage-1/notes":               true,  // that too
		"media-photos-2/.scrollery":   true,  // the mark, in no folder of ours
		"stage-99999999999/a":         true,  // longer than ours
		"media-7/.scrollery/a":        true,  // no mark: a folder
		"stage-4000000000/.scrollery": false, // a dead host's
		"media-42/.scrollery":         false,
		"files-42/.scrollery":         false,
		"files-42-old/.scrollery":     true,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			write(t, path, "x")
			for folder := filepath.Dir(path); folder != dir; folder = filepath.Dir(folder) {
				if err := os.Chtimes(folder, old, old); err != nil {
					t.Fatal(err)
				}
			}
			host, err := host.New(host.Config{ScratchDir: dir}, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) == stays {
				t.Errorf("%s, want other than %v: %v", name, stays, err)
			}
		})
	}
}

// TestHeldFoldersStay: a call may outlast the day.
func TestHeldFoldersStay(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	folder, err := b.MediaFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Remove()
	old := time.Now().Add(-72 * time.Hour)
	if err := os.Chtimes(folder.Path(), old, old); err != nil {
		t.Fatal(err)
	}
	setup(t, func(c *host.Config) { c.ScratchDir = b.scratch })
	if _, err := os.Stat(folder.Path()); err != nil {
		t.Error(err)
	}
}
