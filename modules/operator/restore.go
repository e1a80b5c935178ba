package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// Names of a data folder.
const (
	sandboxName = "sandbox"
	tokensName  = "tokens"
	keyName     = "secret.key"
	nodesName   = "nodes"
)

// Verified is what a copy of a data folder has.
type Verified struct {
	store.Copy
	// Older reports a schema that the next start migrates.
	Older bool
	// Key, Tokens and Sandbox report what is beside the database.
	Key, Tokens, Sandbox bool
}

// VerifyBackup reads a copy of a data folder as a whole, and fails if this release cannot serve it.
// It changes nothing of the copy.
func VerifyBackup(ctx context.Context, dir string) (v Verified, err error) {
	if v.Copy, err = store.CheckCopy(ctx, dir); errors.Is(err, fs.ErrNotExist) {
		return v, fmt.Errorf("%s has no SQLite database: %w", dir, err)
	}
	if err != nil {
		return v, fmt.Errorf("the database of %s is damaged, or none of Scrollery: %w", dir, err)
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	v.Key, v.Tokens, v.Sandbox = there(keyName), there(tokensName), there(sandboxName)
	switch err := v.Schema.Err(); {
	case errors.Is(err, store.ErrSchemaNew):
		return v, err
	case err != nil:
		v.Older = true
	}
	return v, nil
}

// Restored says where what was there before a restore is; empty if there was nothing.
type Restored struct {
	Verified
	Aside string
}

// ErrNotEmpty is the error of a restore into a data folder that has a database.
var ErrNotEmpty = errors.New("the data folder has a database already: with --replace it is moved aside, not deleted")

// Restore puts a copy of a data folder in the place of a data folder that no process uses. The log
// of removals and the marks of node numbers stay. The copy is verified first and stays as it is; until
// all of it is on the disk, nothing of the data folder changes, and from then on the restore is
// finished by the next process that opens the database, whatever ends this one.
func Restore(ctx context.Context, from, to string, replace bool) (r Restored, err error) {
	release, err := sqlite.Hold(to)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := sqlite.Finish(to); err != nil { // of a restore that was cut off
		return r, err
	}
	if r.Verified, err = VerifyBackup(ctx, from); err != nil {
		return r, err
	}
	moves := sqlite.Moves{Part: ".restore", Aside: "before-restore-" + time.Now().UTC().Format("20060102T150405.000Z"), Put: []string{sqlite.Name}}
	part := filepath.Join(to, moves.Part)
	if err := os.RemoveAll(part); err != nil {
		return r, err
	}
	if _, err := os.Lstat(filepath.Join(to, sqlite.Name)); err == nil && !replace {
		return r, ErrNotEmpty
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return r, err
	}
	if err := r.fill(ctx, from, to, part, &moves); err != nil {
		return r, errors.Join(err, os.RemoveAll(part))
	}
	if err := moves.Begin(to); err != nil {
		return r, err
	}
	if len(moves.Away) > 0 {
		r.Aside = filepath.Join(to, moves.Aside)
	}
	return r, sqlite.Finish(to)
}

// fill copies what is to be moved, and what only adds to the data folder.
func (r *Restored) fill(ctx context.Context, from, to, part string, moves *sqlite.Moves) error {
	path := filepath.Join(part, sqlite.Name)
	if err := store.CopyDatabase(ctx, from, path); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	if r.Key {
		if err := copyKey(filepath.Join(from, keyName), part); err != nil {
			return err
		}
		moves.Put = append(moves.Put, keyName)
	}
	if r.Tokens {
		if err := copyTokens(ctx, filepath.Join(from, tokensName), filepath.Join(part, tokensName)); err != nil {
			return err
		}
		moves.Put = append(moves.Put, tokensName)
	}
	if r.Sandbox {
		if _, err := copyFiles(ctx, filepath.Join(from, sandboxName), filepath.Join(part, sandboxName)); err != nil {
			return err
		}
		moves.Put = append(moves.Put, sandboxName)
	}
	away := append([]string{tokensName, sandboxName}, sqlite.Name, sqlite.Name+"-wal", sqlite.Name+"-shm")
	if r.Key {
		away = append(away, keyName)
	}
	for _, name := range away {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			moves.Away = append(moves.Away, name)
		}
	}
	if err := addMarks(filepath.Join(from, nodesName), filepath.Join(to, nodesName)); err != nil {
		return fmt.Errorf("restore the marks of node numbers: %w", err)
	}
	if err := addLogs(filepath.Join(from, removals.Folder), filepath.Join(to, removals.Folder)); err != nil {
		return fmt.Errorf("restore the log of removals: %w", err)
	}
	return syncTree(part)
}

// addMarks writes the marks that are missing or lower: numbers of a constant length.
func addMarks(from, to string) error {
	marks, err := filepath.Glob(filepath.Join(from, "[0-9][0-9][0-9]"))
	if err != nil || len(marks) == 0 {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, mark := range marks {
		text, err := os.ReadFile(mark)
		if err != nil {
			return err
		}
		path := filepath.Join(to, filepath.Base(mark))
		if old, err := os.ReadFile(path); err == nil && string(old) >= string(text) {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return syncTree(to)
}

// addLogs adds copies of the log, which the next start takes over. They have names of their own, but
// the log of a folder that was copied by hand has the name of the one that is in use.
func addLogs(from, to string) error {
	logs, err := filepath.Glob(filepath.Join(from, "[^.]*.log"))
	if err != nil || len(logs) == 0 {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for i, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		part := filepath.Join(to, ".restored")
		if err := os.WriteFile(part, text, 0o600); err != nil {
			return err
		}
		name := fmt.Sprintf("restored-%d-%d-%s", time.Now().UnixNano(), i, filepath.Base(log))
		if err := os.Rename(part, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return syncTree(to)
}

// syncTree has a folder and all below it on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

// Summary is a line for people: how many rows the tables have.
func (v Verified) Summary() string {
	var words []string
	for i, table := range store.CopyTables() {
		if i < len(v.Rows) && v.Rows[i] >= 0 {
			words = append(words, fmt.Sprintf("%s %d", table, v.Rows[i]))
		}
	}
	return strings.Join(words, ", ")
}
