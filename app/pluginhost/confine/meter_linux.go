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

// meter returns when a box uses more than its policy allows, or has ended. In a cgroup, the
// kernel bounds memory.
func meter(first int, scratch *os.File, p Policy, grouped bool, ended <-chan struct{}) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		if err := measure(first, scratch, p, grouped); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ended:
			return nil
		}
	}
}

// fullProcesses is how many processes of a box may have as many files open as one may have:
// open files use up numbers that all processes of the user share, such as that of the events
// that they wait for.
const fullProcesses = 16

// measure adds up all processes of a box and the files in its memory.
func measure(first int, scratch *os.File, p Policy, grouped bool) error {
	processes, tasks, err := family(first, p.Tasks)
	if err != nil {
		return err
	}
	if tasks > p.Tasks {
		return fmt.Errorf("used more than %d processes and threads", p.Tasks)
	}
	if most := fullProcesses * p.Files; len(processes) > fullProcesses && opened(processes, p.Files) > most {
		return fmt.Errorf("used more than %d open files", most)
	}
	if grouped {
		return nil
	}
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(scratch.Fd()), &disk); err != nil {
		return fmt.Errorf("measure the scratch folder: %w", err)
	}
	files := int64(disk.Blocks-disk.Bfree)*disk.Bsize + buffers(first)
	bound := p.Memory + p.Disk
	// Memory that processes share counts for each of them here, and once below: the
	// kernel takes far longer for that.
	if files+resident(processes) > bound && files+proportional(processes, bound-files) > bound {
		return tooMuch(p)
	}
	return nil
}

// buffers are what the sockets of a box may have in their buffers, which is memory of no
// process: each counts in full, see callFilter. A box that has ended has none.
func buffers(first int) int64 {
	const most = 256 << 10 // the usual size, and what a last message may go beyond it
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(first) + "/net/sockstat")
	var used int64
	_, _ = fmt.Sscanf(string(raw), "sockets: used %d", &used)
	return used * most
}

func tooMuch(p Policy) error {
	return fmt.Errorf("used more than %d MiB of memory in its processes, files and sockets", (p.Memory+p.Disk)>>20)
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

// opened counts the open files of processes. One that hides them has as many as it may have.
func opened(processes []string, each int) (files int) {
	for _, process := range processes {
		folder := "/proc/" + process + "/fd"
		if info, err := os.Stat(folder); err == nil && info.Size() > 0 { // their number, since Linux 6.2
			files += int(info.Size())
		} else if names, err := os.ReadDir(folder); err == nil {
			files += len(names)
		} else if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			files += each
		}
	}
	return files
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
