package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// period is how often the host looks at what a box uses.
const period = 250 * time.Millisecond

// meter returns when a box uses more than its policy allows, or has ended.
func meter(first int, scratch *os.File, p Policy, ended <-chan struct{}) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		if err := measure(first, scratch, p); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ended:
			return nil
		}
	}
}

// measure adds up all processes of a box and the files in its memory.
func measure(first int, scratch *os.File, p Policy) error {
	processes, tasks, err := family(first, p.Tasks)
	if err != nil {
		return err
	}
	if tasks > p.Tasks {
		return fmt.Errorf("used more than %d processes and threads", p.Tasks)
	}
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(scratch.Fd()), &disk); err != nil {
		return fmt.Errorf("measure the scratch folder: %w", err)
	}
	files := int64(disk.Blocks-disk.Bfree) * disk.Bsize
	bound := p.Memory + p.Disk
	// Memory that processes share counts for each of them here, and once below: the
	// kernel takes far longer for that.
	if files+resident(processes) > bound && files+proportional(processes, bound-files) > bound {
		return tooMuch(p)
	}
	return nil
}

func tooMuch(p Policy) error {
	return fmt.Errorf("used more than %d MiB of memory in its processes and files", (p.Memory+p.Disk)>>20)
}

// family are the processes of a box, whose first one has a given id, and the number of
// their threads. It stops at most. All are descendants: in a box, the first process is
// the parent of those that lost theirs.
func family(first, most int) (processes []string, tasks int, err error) {
	processes = []string{strconv.Itoa(first)}
	for i := 0; i < len(processes) && tasks <= most; i++ {
		threads, err := os.ReadDir("/proc/" + processes[i] + "/task")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("measure the processes: %w", err)
		}
		tasks += len(threads)
		for _, thread := range threads {
			raw, err := os.ReadFile(filepath.Join("/proc", processes[i], "task", thread.Name(), "children"))
			if err == nil {
				for _, child := range bytes.Fields(raw) {
					processes = append(processes, string(child))
				}
			}
		}
	}
	return processes, tasks, nil
}

// resident is the memory of processes, without what is only a copy of a file, with what
// is swapped out and the tables of their pages.
func resident(processes []string) int64 {
	return sum(processes, "status", "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")
}

// proportional is the same with a part of what is shared for each that shares it. What
// cannot be read counts in full. It stops when it has more than most.
func proportional(processes []string, most int64) int64 {
	var total int64
	for _, process := range processes {
		if total > most {
			break
		}
		one := []string{process}
		if part := sum(one, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); part > 0 {
			total += part + sum(one, "status", "VmPTE:")
		} else {
			total += resident(one)
		}
	}
	return total
}

// sum adds up fields of a file of each process, in bytes. A process that is gone has none.
func sum(processes []string, file string, fields ...string) int64 {
	var total int64
	for _, process := range processes {
		raw, _ := os.ReadFile("/proc/" + process + "/" + file)
		for _, field := range fields {
			_, rest, found := bytes.Cut(raw, []byte("\n"+field))
			if !found {
				continue
			}
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			kilobytes, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(line, []byte("kB")))), 10, 64)
			total += kilobytes << 10
		}
	}
	return total
}
