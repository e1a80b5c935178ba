package wal

import (
	"hash/maphash"
	"sync/atomic"
)

// Index tells the states of a database apart by the header of its log's index, a file that
// all processes with the database open have in memory. Every commit changes the header
// before it returns, so a look at it costs nothing but six words of memory, where SQLite's
// data_version begins a transaction of its own. It is not safe to look at it while it is
// closed.
//
// The header is there twice: https://www.sqlite.org/walformat.html#the_wal_index_header.
// Who writes it writes the second copy first, who reads it reads the first one first; so two
// that are equal are whole.
type Index struct {
	memory []byte
	seed   maphash.Seed
	copies [2]*[headerWords]uint64
}

// headerWords is the length of one copy, in words of eight bytes.
const headerWords = 6

// lookAgain is how often a header is read that is just being written: it takes nanoseconds.
const lookAgain = 100

// State returns a number that is another one after each commit, and in another Index. ok is
// false if there is none to be had now: the index is new, or being written.
func (x *Index) State() (number uint64, ok bool) {
	for range lookAgain {
		first, second := load(x.copies[0]), load(x.copies[1])
		if first == second {
			return maphash.Comparable(x.seed, first), first != [headerWords]uint64{}
		}
	}
	return 0, false
}

func load(from *[headerWords]uint64) (words [headerWords]uint64) {
	for i := range from {
		words[i] = atomic.LoadUint64(&from[i])
	}
	return words
}
