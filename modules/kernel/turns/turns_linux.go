package turns

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	known = true
	// short is the shortest turn that Linux knows.
	short = 100 * time.Microsecond
	// behind is how much greater the niceness of a thread is that gives way.
	behind = 5
)

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

// giveWay has the calling thread come after others. Where that is forbidden it goes on as
// one of them.
func giveWay() {
	_ = Usual()
	if rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less its niceness
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-rank+behind)
	}
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
