package files

import (
	"errors"
	"fmt"
	"os"
	"path"
	"syscall"
)

// Check returns every fault of a write that can be found without the disk.
func Check(limits Limits, name, data string) (faults []error) {
	if err := CheckPath(name); err != nil {
		faults = append(faults, err)
	}
	if int64(len(data)) > limits.File {
		faults = append(faults, tooLong(limits, int64(len(data))))
	}
	return faults
}

func tooLong(limits Limits, size int64) error {
	return refuse(DataField, "a file has at most %d bytes; this has %d", limits.File, size)
}

// Write replaces a whole file, or leaves it unchanged when it fails. It creates the
// folders of the path.
func (f *Folder) Write(name, data string) error {
	if faults := Check(f.limits, name, data); len(faults) > 0 {
		return faults[0]
	}
	lock, err := f.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	now, err := f.admit(lock, name, int64(len(data)))
	if err != nil {
		return err
	}
	if err := f.fill(data); err != nil {
		return err
	}
	if err := changing(lock); err != nil {
		return full(err)
	}
	target := path.Join(filesName, name)
	if err := f.root.MkdirAll(path.Dir(target), 0o700); err != nil {
		return full(fmt.Errorf("make the folders of a file: %w", err))
	}
	if err := f.root.Rename(newName, target); err != nil {
		return full(fmt.Errorf("put a file in its place: %w", err))
	}
	now.keep(lock)
	return f.settle(path.Dir(target))
}

// admit refuses a write that the limits do not allow. It returns the count after the
// write.
func (f *Folder) admit(lock *os.File, name string, size int64) (count, error) {
	info, err := f.look(name)
	if err != nil {
		return count{}, err
	}
	if info != nil && !info.Mode().IsRegular() {
		return count{}, refuse(PathField, "the path belongs to something that is not a file")
	}
	before, err := f.counted(lock)
	if err != nil {
		return count{}, err
	}
	added, err := f.made(name)
	if err != nil {
		return count{}, err
	}
	if info != nil {
		size -= info.Size()
	}
	after, refused := f.limits.fits(before, size, added)
	if refused == nil {
		return after, nil
	}
	// Never refuse because of files that are already deleted: count again.
	if before, err = f.recount(); err != nil {
		return count{}, err
	}
	return f.limits.fits(before, size, added)
}

// fits adds to a count, or fails beyond the limits.
func (l Limits) fits(c count, size int64, entries int) (count, error) {
	left := l.Total - c.used
	c.used += size
	c.entries += entries
	switch {
	case size > 0 && c.used > l.Total:
		return count{}, refuse(DataField, "the sandbox holds at most %d bytes, of which %d are left", l.Total, max(0, left))
	case entries > 0 && c.entries > l.Entries:
		return count{}, refuse(PathField, "the sandbox holds at most %d files and folders", l.Entries)
	}
	return c, nil
}

// fill writes the new file, and first removes one that a killed process left.
func (f *Folder) fill(data string) error {
	if err := f.root.RemoveAll(newName); err != nil {
		return fmt.Errorf("remove an unfinished file: %w", err)
	}
	file, err := f.root.OpenFile(newName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return full(fmt.Errorf("make a file: %w", err))
	}
	_, err = file.WriteString(data)
	if err == nil && f.lasting {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = f.root.Remove(newName)
		return full(fmt.Errorf("write a file: %w", err))
	}
	return nil
}

// settle writes the new names to disk, with those of the folders on the path, so that
// they survive a power cut.
func (f *Folder) settle(at string) error {
	if !f.lasting {
		return nil
	}
	for ; ; at = path.Dir(at) {
		folder, err := f.root.Open(at)
		if err != nil {
			return fmt.Errorf("settle a folder: %w", err)
		}
		err = folder.Sync()
		_ = folder.Close()
		// Some file systems cannot sync a folder, and need not.
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("settle a folder: %w", err)
		}
		if at == "." {
			return nil
		}
	}
}

// Remove deletes a file and the folders that become empty.
func (f *Folder) Remove(name string) error {
	if err := CheckPath(name); err != nil {
		return err
	}
	lock, err := f.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	info, err := f.look(name)
	if err != nil {
		return err
	}
	if info == nil || !info.Mode().IsRegular() {
		return refuse(PathField, "there is no such file")
	}
	now, err := f.counted(lock)
	if err != nil {
		return err
	}
	if err := changing(lock); err != nil {
		return err
	}
	if err := f.root.Remove(path.Join(filesName, name)); err != nil {
		return fmt.Errorf("delete a file: %w", err)
	}
	now.used, now.entries = now.used-info.Size(), now.entries-1
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if f.root.Remove(path.Join(filesName, at)) != nil {
			break // not empty
		}
		now.entries--
	}
	now.keep(lock)
	return nil
}

// full turns the error of a path that this disk cannot hold into a refusal.
func full(err error) error {
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return refuse(PathField, "the path is too long")
	}
	return err
}

// lock waits until no other process writes in the folder. Closing the file unlocks it.
func (f *Folder) lock() (*os.File, error) {
	file, err := f.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the folder's lock: %w", err)
	}
	if err := hold(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("hold the folder's lock: %w", err)
	}
	return file, nil
}
