package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// family are the processes of a box, whose first one has a given id, and the number of
// their threads. It stops at most, and visits each process as it finds it. All are
// descendants: in a box, the first process is the parent of those that lost theirs.
func family(first, most int, visit func(process string)) (processes []string, tasks int, err error) {
	found := func(process string) {
		processes = append(processes, process)
		visit(process)
	}
	found(strconv.Itoa(first))
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
					found(string(child))
				}
			}
		}
	}
	return processes, tasks, nil
}

// hides reports whether a process whose files cannot be read may have some: one that has ended
// and is not waited for cannot be read either.
func hides(process string) bool {
	_, lives := resident(process)
	return lives || threaded(process)
}

// opened counts the open files of processes. One that hides them has as many as it may have.
func opened(processes []string, each int) (files int) {
	for _, process := range processes {
		folder := "/proc/" + process + "/fd"
		if info, err := os.Stat(folder); err == nil && info.Size() > 0 { // their number, since Linux 6.2
			files += int(info.Size())
		} else if names, err := os.ReadDir(folder); err == nil {
			files += len(names)
		} else if hides(process) {
			files += each
		}
	}
	return files
}

// resident is the memory of a process, without what is only a copy of a file, with what
// is swapped out and the tables of its pages. lives is false where it has ended,
// waited for or not.
func resident(process string) (memory int64, lives bool) {
	status, _ := os.ReadFile("/proc/" + process + "/status")
	return residentOf(status)
}

func residentOf(status []byte) (memory int64, lives bool) {
	return fields(status, "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"), bytes.Contains(status, []byte("\nVmRSS:"))
}

// threaded reports whether a process whose first thread has ended has others: the kernel then
// says nothing of what it uses. One that ends is so for a moment.
func threaded(process string) bool {
	threads, _ := os.ReadDir("/proc/" + process + "/task")
	return len(threads) > 1
}

// proportional is the memory of processes with a part of what is shared for each that shares
// it. What cannot be read counts in full. It stops when it has more than most. gone is what
// those had that have ended meanwhile.
func proportional(processes []string, had []int64, most int64) (total, gone int64) {
	for i, process := range processes {
		if total > most {
			break
		}
		status, _ := os.ReadFile("/proc/" + process + "/status")
		full, lives := residentOf(status)
		raw, _ := os.ReadFile("/proc/" + process + "/smaps_rollup")
		if part := fields(raw, "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); part > 0 {
			full = part + fields(status, "VmPTE:")
		} else if !lives {
			gone += had[i]
		}
		total += full
	}
	return total, gone
}

// fields adds up fields of a text of the kernel, in bytes.
func fields(text []byte, names ...string) (total int64) {
	for _, name := range names {
		_, rest, found := bytes.Cut(text, []byte("\n"+name))
		if !found {
			continue
		}
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		kilobytes, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(line, []byte("kB")))), 10, 64)
		total += kilobytes << 10
	}
	return total
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

// The kernel keeps some bytes for each mapping of a process, which has at most so many. One
// or few processes cannot have many enough to matter; of more, some are counted.
const (
	mappingSize     = 256
	mostMappings    = 65536
	mappedProcesses = 8
)

// mappings estimates what the kernel keeps for the mappings of processes, by some of them. One
// whose list is longer than that of any usual program counts as if it had the most.
func mappings(processes []string) int64 {
	if len(processes) <= mappedProcesses {
		return 0
	}
	text := make([]byte, 256<<10)
	var counted int64
	for range mappedProcesses {
		file, err := os.Open("/proc/" + processes[rand.IntN(len(processes))] + "/maps")
		if err != nil {
			continue
		}
		n, err := io.ReadFull(file, text)
		_ = file.Close()
		if err == nil {
			counted += mostMappings
		} else {
			counted += int64(bytes.Count(text[:n], []byte("\n")))
		}
	}
	return counted * mappingSize * int64(len(processes)) / mappedProcesses
}
