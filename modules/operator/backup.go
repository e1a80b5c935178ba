package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// Backup copies the data into dir, which must not exist: the SQLite database as it
// was at one moment, the key of sealed secrets, the tokens that plugins renewed, the log of
// removals, then the files of all accounts. dir appears
// when it is complete, and can be used as a data folder. A PostgreSQL database is not copied; database is
// false then.
func (s *Service) Backup(ctx context.Context, dir string) (database bool, copied int, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return false, 0, fmt.Errorf("backup: %s exists already", dir)
	}
	if _, err := os.Stat(s.cfg.KeyFile); err == nil { // no key is removed between the copies of database and key
		held, err := flock.Wait(ctx, s.cfg.KeyFile+".lock")
		if err != nil {
			return false, 0, fmt.Errorf("backup: %w", err)
		}
		defer held.Release() //nolint:errcheck // it ends with the process
	}
	part, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".backup-")
	if err != nil {
		return false, 0, fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	if database = s.db.Dialect() == store.SQLite; database {
		name := filepath.Join(part, "scrollery.db")
		if err := s.db.Backup(ctx, name); err != nil {
			return false, 0, err
		}
		if err := os.Chmod(name, 0o600); err != nil {
			return false, 0, fmt.Errorf("backup: %w", err)
		}
	}
	if err := copyKey(s.cfg.KeyFile, part); err != nil {
		return false, 0, fmt.Errorf("back up the key of secrets: %w", err)
	}
	if err := copyTokens(ctx, s.cfg.TokensDir, filepath.Join(part, filepath.Base(s.cfg.TokensDir))); err != nil {
		return false, 0, fmt.Errorf("back up the tokens of plugins: %w", err)
	}
	if err := removals.CopyFile(ctx, s.cfg.RemovedDir, filepath.Join(part, removals.Folder)); err != nil {
		return false, 0, fmt.Errorf("back up the log of removals: %w", err)
	}
	if copied, err = copyFiles(ctx, s.cfg.SandboxDir, filepath.Join(part, "sandbox")); err != nil {
		return false, copied, fmt.Errorf("back up the files of accounts: %w", err)
	}
	if err := os.Rename(part, dir); err != nil {
		return false, copied, fmt.Errorf("backup: %w", err)
	}
	return database, copied, nil
}

// copyKey copies the key of sealed secrets, which only its owner can read. There is none
// before the first secret, and where the configuration has it.
func copyKey(from, dir string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) || from == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(from)), text, 0o600)
}

// copyTokens copies the tokens of plugins, each of which is replaced as a whole. Without them a
// restored server begins with the tokens of its configuration, which a provider that renewed them
// may no longer accept.
func copyTokens(ctx context.Context, from, to string) error {
	names, err := filepath.Glob(filepath.Join(from, "[^.]*")) // without half-written ones
	if err != nil || len(names) == 0 || from == "" {
		return err
	}
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	for _, name := range names {
		if err := copyFile(source, target, filepath.Base(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return ctx.Err()
}

// copyFiles copies the files below the folders of accounts. A file that is deleted
// meanwhile is left out; locks and half-written files are not copied.
func copyFiles(ctx context.Context, from, to string) (copied int, err error) {
	accounts, err := filepath.Glob(filepath.Join(from, "*", files.Content))
	if err != nil {
		return 0, err
	}
	for _, account := range accounts {
		inside, err := filepath.Rel(from, account)
		if err != nil {
			return copied, err
		}
		n, err := copyFolder(ctx, account, filepath.Join(to, inside))
		if copied += n; err != nil {
			return copied, err
		}
	}
	return copied, nil
}

func copyFolder(ctx context.Context, from, to string) (copied int, err error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return 0, err
	}
	source, err := os.OpenRoot(from)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return 0, err
	}
	defer target.Close()
	err = fs.WalkDir(source.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !entry.Type().IsRegular():
			return nil
		}
		if err := copyFile(source, target, name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		copied++
		return nil
	})
	return copied, err
}

func copyFile(source, target *os.Root, name string) error {
	in, err := source.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := target.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	out, err := target.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
