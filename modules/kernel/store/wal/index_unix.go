//go:build unix

package wal

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenIndex opens the index of the log of the database at a path. A connection that has read
// from the database must stay open as long as it is used: the last one to close takes the
// index away. An error wraps [errors.ErrUnsupported] where there is nothing to look at.
func OpenIndex(database string) (*Index, error) {
	file, err := os.Open(database + "-shm")
	if err != nil {
		return nil, fmt.Errorf("open the index of the log: %w", err)
	}
	defer file.Close() //nolint:errcheck // what is mapped stays
	const size = 2 * headerWords * 8
	if info, err := file.Stat(); err != nil || info.Size() < size { // beyond its end there is no memory
		return nil, errors.Join(fmt.Errorf("the index of the log has no header: %w", errors.ErrUnsupported), err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the index of the log: %w", err)
	}
	x := &Index{memory: memory, seed: maphash.MakeSeed()}
	for i := range x.copies {
		x.copies[i] = (*[headerWords]uint64)(unsafe.Pointer(&memory[i*headerWords*8])) // a page is aligned
	}
	return x, nil
}

// Close gives the memory back.
func (x *Index) Close() error { return unix.Munmap(x.memory) }
