// Package journal makes entries durable with one write and one fdatasync each, for an
// owner who stores them elsewhere soon after.
//
// A process has two files of its own, which it writes in turn: while the entries of one
// are stored elsewhere, new ones go to the other. The files keep their size, since growing
// a file costs several times as much as writing into it. Each turn has a random number,
// which every checksum includes: what an earlier turn has left in the file is no entry.
// An entry whose write was cut short ends the file; no caller was told that it is durable.
package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/power"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

const (
	// fileSize is the size that a file has from the start. Longer ones are cut to it.
	fileSize = 1 << 20
	// maxProcesses bounds the numbers of processes on one folder.
	maxProcesses = 1000
)

// ErrReplaced is the error of a file that is no longer at its path.
var ErrReplaced = errors.New("the journal's file is not the one that was opened")

// Take stores entries elsewhere. They may be stored already: it is called again for
// entries of a process that was killed before it could empty its files.
type Take func(entries [][]byte) error

// Journal holds the files of one process. It is safe for concurrent use.
type Journal struct {
	dir  string
	sync func(*os.File) error

	mu     sync.Mutex
	number int
	lock   *flock.Lock
	files  [2]*os.File
	active int
	sealed bool // the other file has entries
	salt   uint64
	size   int64 // of the active file's content
	buffer []byte
	err    error // of the write that failed
}

// Open hands the entries that earlier processes left to take, and opens the files of this
// process in the folder, which is made where it is missing.
func Open(dir string, take Take) (*Journal, error) {
	j := &Journal{dir: dir, sync: power.Sync}
	if err := j.open(take); err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	return j, nil
}

func (j *Journal) open(take Take) error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	for j.number = range maxProcesses {
		lock, err := flock.Try(lockPath(j.dir, j.number))
		if errors.Is(err, flock.ErrLocked) {
			continue
		}
		if err != nil {
			return err
		}
		j.lock = lock
		break
	}
	if j.lock == nil {
		return fmt.Errorf("%d processes have a journal in %s", maxProcesses, j.dir)
	}
	err := j.openFiles(take)
	if err == nil {
		err = j.Adopt(take)
	}
	if err != nil {
		err = errors.Join(err, j.closeFiles())
	}
	return err
}

func (j *Journal) openFiles(take Take) error {
	if err := empty(j.dir, j.number, take); err != nil {
		return err
	}
	for i := range j.files {
		file, err := prepare(filePath(j.dir, j.number, i))
		if err != nil {
			return err
		}
		j.files[i] = file
	}
	j.active, j.size, j.sealed, j.err, j.salt = 0, 0, false, nil, rand.Uint64()
	return syncDir(j.dir)
}

// prepare opens a file and gives it its size.
func prepare(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < fileSize {
		if _, err = file.WriteAt(make([]byte, fileSize), 0); err == nil {
			err = file.Sync()
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Adopt hands the entries of processes that have ended to take, and empties their files.
// Its own lock keeps it off the files of this process.
func (j *Journal) Adopt(take Take) error {
	numbers, err := numbersIn(j.dir)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		lock, err := flock.Try(lockPath(j.dir, number))
		if errors.Is(err, flock.ErrLocked) {
			continue
		}
		if err == nil {
			err = errors.Join(empty(j.dir, number, take), lock.Release())
		}
		if err != nil {
			return fmt.Errorf("take over the journal of another process: %w", err)
		}
	}
	return nil
}

// Append returns once the entry is durable. After an error, which leaves it open whether
// the entry is stored, all calls fail until [Journal.Reopen].
func (j *Journal) Append(entry []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	j.buffer = j.buffer[:0]
	if j.size == 0 {
		j.buffer = appendHeader(j.buffer, j.salt)
	}
	j.buffer = appendFrame(j.buffer, j.salt, entry)
	file := j.files[j.active]
	_, err := file.WriteAt(j.buffer, j.size)
	if err == nil {
		err = j.sync(file)
	}
	if err != nil {
		j.err = fmt.Errorf("write the journal: %w", err)
		return j.err
	}
	j.size += int64(len(j.buffer))
	return nil
}

// Turn has further entries go to the other file, which must be empty: see [Journal.Empty].
func (j *Journal) Turn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sealed {
		panic("journal: a turn before the other file was emptied")
	}
	j.active, j.size, j.sealed, j.salt = 1-j.active, 0, true, rand.Uint64()
}

// Empty forgets the entries from before the last turn. A power cut may bring them back.
func (j *Journal) Empty() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.sealed {
		return nil
	}
	err := clearHeader(j.files[1-j.active])
	if err != nil && j.err == nil {
		j.err = err
	}
	j.sealed = false
	return err
}

// Check returns the error of the last write, or [ErrReplaced].
func (j *Journal) Check() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	for i, file := range j.files {
		opened, err := file.Stat()
		if err != nil {
			return err
		}
		now, err := os.Stat(filePath(j.dir, j.number, i))
		if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(opened, now) {
			return ErrReplaced
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Reopen opens other files after an error. All entries of this one must be stored
// elsewhere: they are forgotten.
func (j *Journal) Reopen(take Take) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, file := range j.files {
		if file != nil {
			_ = clearHeader(file) // the file may be what failed
		}
	}
	_ = j.closeFiles()
	if err := j.open(take); err != nil {
		j.err = fmt.Errorf("open the journal again: %w", err)
		return j.err
	}
	return nil
}

// Close closes the files. Entries that were not forgotten stay for the next process.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = os.ErrClosed
	}
	return j.closeFiles()
}

func (j *Journal) closeFiles() error {
	var faults []error
	for i, file := range j.files {
		if file != nil {
			faults = append(faults, file.Close())
		}
		j.files[i] = nil
	}
	if j.lock != nil {
		faults = append(faults, j.lock.Release())
		j.lock = nil
	}
	return errors.Join(faults...)
}

func lockPath(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%03d.lock", number))
}

func filePath(dir string, number, i int) string {
	return filepath.Join(dir, fmt.Sprintf("%03d-%d", number, i))
}
