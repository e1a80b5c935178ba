package turns

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// short is the shortest turn that Linux knows.
const short = 100 * time.Microsecond

// Short gives all threads of this process short turns, and those that start later. What an
// operator has set for the process otherwise, as its niceness, stays.
func Short() error {
	// A thread that others start meanwhile has the turns of the one that started it: a
	// second look finds those of threads which the first look came to late.
	for range 2 {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("find the threads: %w", err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				return fmt.Errorf("find the threads: %w", err)
			}
			if err := set(id, short); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				return fmt.Errorf("shorten the turns: %w", err)
			}
		}
	}
	return nil
}

// Usual gives the calling thread, and what it executes, the turns of any process.
func Usual() error {
	if err := set(0, 0); err != nil {
		return fmt.Errorf("have the usual turns: %w", err)
	}
	return nil
}

// set gives a thread turns of this length, zero for the usual one. A thread with a
// real-time policy has no turns of this kind and is left alone.
func set(thread int, turn time.Duration) error {
	now, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		return err
	}
	if now.Policy != unix.SCHED_NORMAL && now.Policy != unix.SCHED_BATCH {
		return nil
	}
	now.Runtime = uint64(turn)
	return unix.SchedSetAttr(thread, now, 0)
}
