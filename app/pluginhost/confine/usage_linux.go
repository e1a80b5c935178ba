package confine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

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

// hides reports whether a process may have open files that cannot be read, with err. One that
// goes on without its first thread seems to have none, and so does one that ends, for a moment.
func (u *usage) hides(process string, err error) bool {
	if _, lives := resident(process); lives {
		return err != nil
	}
	since, headless := u.headless[process]
	return headless && time.Since(since) > hiding
}

// opened counts the open files of processes. One that hides them has as many as it may have.
func (u *usage) opened(processes []string) (files int) {
	for _, process := range processes {
		folder := "/proc/" + process + "/fd"
		if info, err := os.Stat(folder); err == nil && info.Size() > 0 { // their number, since Linux 6.2
			files += int(info.Size())
		} else if names, err := os.ReadDir(folder); len(names) > 0 {
			files += len(names)
		} else if u.hides(process, err) {
			files += u.p.Files
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

// part is the memory of a process with a part of what it shares, and what else was known of it
// then, some looks ago.
type part struct{ memory, resident, faults, looks int64 }

// partTime is how long a look may take to read parts, of which the kernel makes a long one.
const partTime = 15 * time.Millisecond

// proportional is the memory of processes with a part of what is shared for each that shares
// it. sure is that of those that it has the time to read, the largest first. rest is the most
// that others have by what is known of them: each page that a process gets is a fault, and a
// huge one shows in what is resident.
func (u *usage) proportional(processes []string, had []int64) (sure, rest int64) {
	type guess struct {
		process        string
		now            part
		memory, weight int64
	}
	var all []guess
	page, before := int64(os.Getpagesize()), u.parts
	u.parts = map[string]part{}
	for i, process := range processes {
		if had[i] == 0 {
			continue
		}
		g := guess{process: process, now: part{resident: had[i], faults: faults(process)}, weight: had[i]}
		last, known := before[process]
		if !known {
			last.resident = had[i] // what it had at its birth is a part of its parent's
		}
		g.memory = min(had[i], last.memory+max(page*(g.now.faults-last.faults), had[i]-last.resident, 0))
		if known {
			g.weight = g.memory + last.looks<<23 // in its turn, too
		}
		last.looks++
		all, u.parts[process] = append(all, g), last
	}
	for process, last := range before {
		if _, lives := u.parts[process]; !lives {
			u.gone += last.memory
		}
	}
	slices.SortFunc(all, func(a, b guess) int { return cmp.Compare(b.weight, a.weight) })
	began := spent()
	var read, fresh, mean int64 // of fresh ones that were read
	for _, g := range all {
		if read > 0 && spent()-began > partTime {
			if last := u.parts[g.process]; last.looks == 1 && last.memory == 0 { // found only now
				last.memory = mean
				g.memory, u.parts[g.process] = max(g.memory, last.memory), last
			}
			rest += g.memory
			continue
		}
		raw, _ := os.ReadFile("/proc/" + g.process + "/smaps_rollup")
		status, _ := os.ReadFile("/proc/" + g.process + "/status")
		full, lives := residentOf(status)
		if part := fields(raw, "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); part > 0 {
			full = part + fields(status, "VmPTE:")
		} else if !lives {
			if _, known := before[g.process]; !known { // nor whether others have what it had
				g.memory = g.now.resident
			}
			rest += max(g.memory, sure/max(read, 1))
			continue
		}
		g.now.memory = full
		if _, known := before[g.process]; !known {
			fresh++
			mean += (full - mean) / fresh
		}
		u.parts[g.process] = g.now
		sure, read = sure+full, read+1
	}
	u.gone -= u.gone * read / max(int64(len(all)), 1)
	return sure, rest + u.gone
}

// faults counts how often a process got a page.
func faults(process string) int64 {
	raw, _ := os.ReadFile("/proc/" + process + "/stat")
	// The name before may have any letters.
	values := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(values) < 10 {
		return 0
	}
	minor, _ := strconv.ParseInt(string(values[7]), 10, 64)
	major, _ := strconv.ParseInt(string(values[9]), 10, 64)
	return minor + major
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
