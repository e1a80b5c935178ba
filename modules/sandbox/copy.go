package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Scratch is an empty folder on this machine. It does not outlast the process for
// longer than until the next start.
type Scratch interface {
	Path() string
	// Remove deletes the folder and all that is in it.
	Remove()
}

// copied is a loan of rows: a folder with copies of the files. The program's changes are
// stored in one transaction when the program has ended. Where another call changed the
// same file meanwhile, the program's change is the later one.
type copied struct {
	rows    rows
	scratch Scratch
	copy    *files.Copy
	dir     string
}

// lend copies the account's files into a folder.
func (r rows) lend(ctx context.Context) (loan, error) {
	scratch, err := r.scratch()
	if err != nil {
		return nil, fmt.Errorf("make a folder for a program: %w", err)
	}
	dir := filepath.Join(scratch.Path(), "account")
	folder, err := files.NewCopy(dir, r.limits)
	if err != nil {
		scratch.Remove()
		return nil, fmt.Errorf("make a folder for a program: %w", err)
	}
	borrowed := &copied{rows: r, scratch: scratch, copy: folder, dir: dir}
	if err := r.each(ctx, folder.Give); err != nil {
		borrowed.release()
		return nil, fmt.Errorf("copy files for a program: %w", err)
	}
	return borrowed, nil
}

func (c *copied) path() string { return c.dir }

func (c *copied) release() {
	_ = c.copy.Close()
	c.scratch.Remove()
}

func (c *copied) giveBack(ctx context.Context) error {
	defer c.release()
	written, removed, err := c.copy.Changes()
	if err != nil || len(written)+len(removed) == 0 {
		return err
	}
	return c.rows.change(ctx, func(ctx context.Context, tx *store.Tx, index *files.Index) error {
		for _, name := range removed {
			index.Remove(name)
		}
		// What shrinks comes first: only the end has to be within the limits.
		grown := func(f files.File) int64 { return f.Size - index.Size(f.Path) }
		growth := make(map[string]int64, len(written))
		for _, file := range written {
			growth[file.Path] = grown(file)
		}
		slices.SortStableFunc(written, func(a, b files.File) int { return cmp.Compare(growth[a.Path], growth[b.Path]) })
		names := make([]string, len(written))
		for i, file := range written {
			names[i] = file.Path
			if err := index.Write(c.rows.limits, file.Path, file.Size); err != nil {
				return err
			}
		}
		if err := c.rows.remove(ctx, tx, removed); err != nil {
			return err
		}
		return c.rows.put(ctx, tx, names, c.copy.Read)
	})
}
