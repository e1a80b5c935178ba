package login

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	loginFile = "login.json"
	claimFile = "claim.json"
)

// file is the content of login.json.
type file struct {
	Server    string `json:"server"`
	Key       string `json:"key,omitempty"`
	InKeyring bool   `json:"inKeyring,omitempty"`
	KeyID     string `json:"keyId,omitempty"`
}

// read returns the zero file if there is none.
func (s *Store) read() (file, error) {
	var kept file
	if err := s.load(loginFile, &kept); err != nil {
		return file{}, err
	}
	if kept.Server == "" {
		return file{}, nil
	}
	server, err := Origin(kept.Server)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", filepath.Join(s.Dir, loginFile), err)
	}
	kept.Server = server
	return kept, nil
}

func (s *Store) write(kept file) error { return s.save(loginFile, kept) }

// load leaves value as it is where the file does not exist. A file that other users can
// read is refused: it holds a secret. Errors never show the content.
func (s *Store) load(name string, value any) error {
	path := filepath.Join(s.Dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users may read %s: run `chmod 600` on it, or delete it and sign in again", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if json.Unmarshal(text, value) != nil {
		return fmt.Errorf("%s is damaged: delete it and sign in again", path)
	}
	return nil
}

// save replaces the file as a whole: a process that is killed leaves the old one or the
// new one.
func (s *Store) save(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(s.Dir, name+".*") // 0600
	if err != nil {
		return err
	}
	_, err = next.Write(append(text, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), filepath.Join(s.Dir, name))
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
