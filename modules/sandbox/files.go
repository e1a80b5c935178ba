package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// fileStore stores the files of accounts. All its calls mean the account of the
// context. Refusals are *files.Error. A file is stored when write returns.
type fileStore interface {
	write(ctx context.Context, name, data string) error
	read(ctx context.Context, name string) (string, error)
	list(ctx context.Context) ([]files.File, error)
	// erase deletes every file of the account.
	erase(ctx context.Context) error
	// lend returns a folder with the account's files, for one program.
	lend(ctx context.Context) (loan, error)
}

// loan is a folder that one program has borrowed.
type loan interface {
	// path is the path of the folder.
	path() string
	// giveBack stores what the program changed, when its process has ended. Either all
	// changes are stored or, with an error, none.
	giveBack(ctx context.Context) error
}

// folders is the fileStore of one machine: a folder for each account.
type folders struct {
	dir    string
	limits files.Limits
}

func (f folders) write(ctx context.Context, name, data string) error {
	return f.open(ctx, func(folder *files.Folder, _ string) error { return folder.Write(name, data) })
}

func (f folders) read(ctx context.Context, name string) (text string, err error) {
	err = f.open(ctx, func(folder *files.Folder, _ string) error {
		text, err = folder.Read(name)
		return err
	})
	return text, err
}

func (f folders) list(ctx context.Context) (list []files.File, err error) {
	err = f.open(ctx, func(folder *files.Folder, _ string) error {
		list, err = folder.List()
		return err
	})
	return list, err
}

// lend lends the account's own folder: what the program writes is stored at once.
func (f folders) lend(ctx context.Context) (borrowed loan, err error) {
	err = f.open(ctx, func(_ *files.Folder, dir string) error {
		borrowed = ownFolder(dir)
		return nil
	})
	return borrowed, err
}

func (f folders) erase(ctx context.Context) error {
	account, err := accountOf(ctx)
	if err != nil {
		return err
	}
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(f.dir, publicid.Format(publicid.Account, account)))
}

// open opens the folder of the account for do. It creates the folder if it is missing.
func (f folders) open(ctx context.Context, do func(folder *files.Folder, dir string) error) error {
	account, err := accountOf(ctx)
	if err != nil {
		return err
	}
	if f.dir == "" {
		return errNoCaller
	}
	dir := filepath.Join(f.dir, publicid.Format(publicid.Account, account))
	folder, err := files.Open(dir, f.limits, true)
	if err != nil {
		return fmt.Errorf("open a sandbox: %w", err)
	}
	defer folder.Close()
	return do(folder, dir)
}

// ownFolder is the path of an account's own folder.
type ownFolder string

func (o ownFolder) path() string                 { return string(o) }
func (ownFolder) giveBack(context.Context) error { return nil }

var errNoCaller = errors.New("no account is asking")

// accountOf returns the account of the context.
func accountOf(ctx context.Context) (int64, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return 0, errNoCaller
	}
	return account, nil
}
