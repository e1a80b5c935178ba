package archive

import (
	"errors"
	"io/fs"
	"os"
)

// writeSynced writes a new file, which is on the disk when it returns.
func writeSynced(path, text string, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
}
