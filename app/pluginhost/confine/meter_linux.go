package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/pluginhost/confine/launch"
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

// Processes that end before they are read may have had any memory: each counts as the others
// do. Where that makes the sum too much, the mean of some looks decides: only a box that forks
// all the time has such processes in most of them.
const (
	looks      = 12
	leastLooks = 2 // where they take longer than lookTime
	lookTime   = 200 * time.Millisecond
	pause      = 10 * time.Millisecond
)

// measure adds up all processes of a box and the files in its memory.
func measure(first int, scratch *os.File, p Policy, grouped bool) error {
	ended, over, began := map[string]bool{}, int64(0), time.Now()
	for n := 0; n < looks && (n < leastLooks || time.Since(began) < lookTime); n++ {
		by, err := look(first, scratch, p, grouped, ended)
		if over += by; err != nil || n == 0 && by <= 0 {
			return err
		}
		time.Sleep(pause)
	}
	if over <= 0 {
		return nil
	}
	return tooMuch(p)
}

// look is one measure. over is by how much the memory is above its bound if processes that
// ended meanwhile had as much as others. Those of ended were found so before, such as one
// whose parent never waits for it.
func look(first int, scratch *os.File, p Policy, grouped bool, ended map[string]bool) (over int64, err error) {
	var lost, used int64
	var had []int64 // by process
	hidden := false
	processes, tasks, err := family(first, p.Tasks, func(process string) {
		if grouped {
			return
		}
		// At once, as it may live for a moment.
		memory, lives := resident(process)
		had, used = append(had, memory), used+memory
		switch {
		case lives:
		case threaded(process):
			hidden = true
		case !ended[process]:
			ended[process] = true
			lost++
		}
	})
	if err != nil {
		return 0, err
	}
	if tasks > p.Tasks {
		return 0, fmt.Errorf("used more than %d processes and threads", p.Tasks)
	}
	if most := fullProcesses * p.Files; len(processes) > fullProcesses && opened(processes, p.Files) > most {
		return 0, fmt.Errorf("used more than %d open files", most)
	}
	if len(p.Writes) > 0 && written(processes, p) > p.Written {
		return 0, fmt.Errorf("wrote more than %d MiB, or %d files, into its folders", p.Written>>20, p.WrittenFiles)
	}
	if err := weigh(processes, tasks); err != nil || grouped {
		return 0, err
	}
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(scratch.Fd()), &disk); err != nil {
		return 0, fmt.Errorf("measure the scratch folder: %w", err)
	}
	files := int64(disk.Blocks-disk.Bfree)*disk.Bsize + buffers(first) + mappings(processes)
	bound := p.Memory + p.Disk
	// Memory that processes share counts for each of them here, and once below: the
	// kernel takes far longer for that.
	if files+used > bound {
		var gone int64
		if used, gone = proportional(processes, had, bound-files); files+used > bound {
			return 0, tooMuch(p)
		}
		used += gone
	}
	if hidden {
		return bound, nil
	}
	mean := used / max(int64(len(processes))-lost, 1)
	return files + used + lost*mean - bound, nil
}

// written is the size of the folders of the host that a process writes, on their disk, with
// files that have no name any more and are open; one that is only mapped, or on its way
// through a socket, is not seen. It is more than may be where it cannot be
// read, or there are too many files.
func written(processes []string, p Policy) (size int64) {
	type file struct{ device, number uint64 }
	seen, count, beyond := map[file]bool{}, 0, p.Written+1
	add := func(info fs.FileInfo) {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return
		}
		if one := (file{uint64(stat.Dev), stat.Ino}); !seen[one] { // it may have several names
			seen[one] = true
			size += stat.Blocks * 512
		}
	}
	devices := map[uint64]bool{}
	for _, folder := range p.Writes {
		if info, err := os.Stat(folder); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				devices[uint64(stat.Dev)] = true
			}
		}
		_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil {
				var info fs.FileInfo
				if info, err = entry.Info(); err == nil {
					add(info)
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
				size = beyond // hidden, or a name that is too long
			}
			if count++; count > p.WrittenFiles {
				size = beyond
			}
			if size > p.Written {
				return fs.SkipAll
			}
			return nil // what is gone meanwhile is gone
		})
	}
	for _, process := range processes {
		folder := "/proc/" + process + "/fd/"
		names, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrPermission) && hides(process) {
			return beyond
		}
		for _, name := range names {
			info, err := os.Stat(folder + name.Name())
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 0 && devices[uint64(stat.Dev)] {
				add(info)
			}
		}
	}
	return size
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
	raw, err := os.ReadFile("/proc/" + process + "/status")
	return fields(raw, "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"), err == nil && bytes.Contains(raw, []byte("\nVmRSS:"))
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
		full, lives := resident(process)
		raw, _ := os.ReadFile("/proc/" + process + "/smaps_rollup")
		if part := fields(raw, "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); part > 0 {
			status, _ := os.ReadFile("/proc/" + process + "/status")
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

// few is how many tasks of a box may want each processor at once before they get less time: so
// many together weigh as much as one of the server, see [launch.Niceness].
const few = 3

// weigh has the tasks of a box that want processors weigh no more together than few of them.
// Niceness is of a task, so many would starve the server in spite of it.
func weigh(processes []string, tasks int) error {
	if tasks <= few*runtime.NumCPU() {
		return nil
	}
	var all []int
	running := 0
	for _, process := range processes {
		threads, _ := os.ReadDir("/proc/" + process + "/task")
		for _, thread := range threads {
			raw, _ := os.ReadFile(filepath.Join("/proc", process, "task", thread.Name(), "stat"))
			// The name before the state may have any letters.
			if at := bytes.LastIndex(raw, []byte(") ")); at >= 0 && at+2 < len(raw) && raw[at+2] == 'R' {
				running++
			}
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				all = append(all, id)
			}
		}
	}
	each := float64(running) / float64(few*runtime.NumCPU())
	if each <= 1 {
		return nil
	}
	rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the niceness of the host
	if err != nil {
		return fmt.Errorf("read the host's niceness: %w", err)
	}
	// A level less is a quarter more time; see sched(7).
	level := 20 - rank + launch.Niceness + int(math.Ceil(math.Log(each)/math.Log(1.25)))
	for _, id := range all {
		now, err := unix.Getpriority(unix.PRIO_PROCESS, id)
		if err != nil {
			continue
		}
		if level > 19 && 20-now == 19 { // it was so many at the look before, too
			_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		} else if nicer := min(level, 19); 20-now < nicer {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nicer)
		}
	}
	return nil
}
