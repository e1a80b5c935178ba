package removals

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// CopyFile copies the log of a folder into another folder, as one of its other files: it takes the
// place of no newer one, and a start takes its lines over. It does nothing if there is none.
func CopyFile(ctx context.Context, from, to string) error {
	path := filepath.Join(from, current)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	held, err := flock.Wait(ctx, from+".lock")
	if err != nil {
		return err
	}
	defer held.Release() //nolint:errcheck // it ends with the process
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	name := "copy-" + strconv.FormatInt(time.Now().UnixNano(), 10) + ".log"
	return os.WriteFile(filepath.Join(to, name), text, 0o600)
}
