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

// makeFolder makes a folder that every user can read, if it is not there.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, 0o755)) // whatever the umask
}
