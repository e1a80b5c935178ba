package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// Nodes keeps two files a number in the data folder: a lock that the holder
// keeps, and the mark. Commands beside a running server so get numbers of their own.
type Nodes struct {
	dir  string
	lock *flock.Lock
	node int
}

func (f *Nodes) path(node int, suffix string) string {
	return filepath.Join(f.dir, "nodes", fmt.Sprintf("%03d%s", node, suffix))
}

// NewNodes returns the numbers of a data folder.
func NewNodes(dir string) *Nodes { return &Nodes{dir: dir} }

// Lease takes a number that no process holds and marks it. One whose mark has passed is
// preferred.
func (f *Nodes) Lease(_ context.Context, now int64) (publicid.Grant, error) {
	if err := os.MkdirAll(filepath.Join(f.dir, "nodes"), 0o700); err != nil {
		return publicid.Grant{}, err
	}
	for _, ahead := range []bool{false, true} {
		for node := publicid.MaxNode; node >= 0; node-- {
			lock, err := flock.Try(f.path(node, ".lock"))
			if errors.Is(err, flock.ErrLocked) {
				continue
			}
			if err != nil {
				return publicid.Grant{}, err
			}
			after, err := f.mark(node)
			if err == nil && (after <= now || ahead) {
				f.lock, f.node = lock, node
				grant, err := f.grant(after, max(after, now))
				if err != nil {
					err = errors.Join(err, lock.Release())
				}
				return grant, err
			}
			if err := errors.Join(err, lock.Release()); err != nil {
				return publicid.Grant{}, err
			}
		}
	}
	return publicid.Grant{}, publicid.ErrNodesHeld
}

// Renew raises the mark beyond the millisecond at.
func (f *Nodes) Renew(_ context.Context, at int64) (publicid.Grant, error) {
	return f.grant(0, at)
}

// Close lowers the mark to the last millisecond used and frees the number.
func (f *Nodes) Close(last int64) error {
	if f.lock == nil {
		return nil
	}
	err := errors.Join(f.setMark(last), f.lock.Release())
	f.lock = nil
	return err
}

func (f *Nodes) grant(after, at int64) (publicid.Grant, error) {
	until := at + publicid.MarkStep.Milliseconds()
	return publicid.Grant{Node: f.node, After: after, Until: until}, f.setMark(until)
}

// mark returns 0 for a number that was never held.
func (f *Nodes) mark(node int) (int64, error) {
	text, err := os.ReadFile(f.path(node, ""))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(text) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	mark, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.path(node, ""), err)
	}
	return mark, nil
}

// setMark writes over the old mark in place: one short write of constant length.
func (f *Nodes) setMark(until int64) error {
	file, err := os.OpenFile(f.path(f.node, ""), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "%020d\n", until), 0)
	return errors.Join(err, file.Sync(), file.Close())
}

// CopyTo writes the marks of all numbers into another data folder.
func (f *Nodes) CopyTo(dir string) error {
	marks, err := filepath.Glob(filepath.Join(f.dir, "nodes", "[0-9][0-9][0-9]"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "nodes"), 0o700); err != nil {
		return err
	}
	for _, mark := range marks {
		text, err := os.ReadFile(mark)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "nodes", filepath.Base(mark)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
