package box

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// period is how often the host looks at a box, if that takes less than a tenth of it;
	// mostPeriod is how often at least.
	period     = 250 * time.Millisecond
	mostPeriod = 5 * time.Second
	// sums is how many sums in a row must be too much: where a process forks between two
	// reads, the pages of both count twice.
	sums = 3
	// socketBuffer is the usual size of a socket's buffers, and what a last message adds.
	socketBuffer = 256 << 10
)

// meter returns when a box uses more than its policy allows, or has ended. In a cgroup,
// the kernel bounds memory. See the package comment for what neither bounds.
func meter(first int, scratch *os.File, p Policy, grouped bool, ended <-chan struct{}) error {
	for {
		began := time.Now()
		if err := look(first, scratch, p, grouped); err != nil {
			return err
		}
		select {
		case <-time.After(min(max(period, 10*time.Since(began)), mostPeriod)):
		case <-ended:
			return nil
		}
	}
}

// look compares what a box uses with its policy.
func look(first int, scratch *os.File, p Policy, grouped bool) error {
	processes, threads := family(first, p.Tasks)
	if len(threads) > p.Tasks {
		return fmt.Errorf("used more than %d processes and threads", p.Tasks)
	}
	if len(p.Writes) > 0 && !fits(p, processes) {
		return fmt.Errorf("wrote more than %d MiB, or %d files, into its folders", p.Written>>20, p.WrittenFiles)
	}
	weigh(threads)
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(scratch.Fd()), &disk); grouped || err != nil {
		return err
	}
	var sockets int64
	_, _ = fmt.Sscanf(read(strconv.Itoa(first), "net/sockstat"), "sockets: used %d", &sockets)
	for n := range 1 + sums {
		used := int64(disk.Blocks-disk.Bfree)*disk.Bsize + sockets*socketBuffer
		for _, process := range processes {
			used += memory(process, n > 0)
		}
		if used <= p.Memory+p.Disk {
			return nil
		}
	}
	return tooMuch(p)
}

func tooMuch(p Policy) error {
	return fmt.Errorf("used more than %d MiB of memory in its processes, files and sockets", (p.Memory+p.Disk)>>20)
}

// memory is that of a process with its page tables, without copies of files. With shared,
// it has a part of each page that others have too, which takes the kernel far longer.
func memory(process string, shared bool) int64 {
	status := read(process, "status")
	size := fields(status, "RssAnon:", "RssShmem:", "VmSwap:")
	if shared {
		if part := fields(read(process, "smaps_rollup"), "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); part > 0 {
			size = part
		}
	}
	return size + fields(status, "VmPTE:")
}

// family are the processes of a box, by a thread of each, and their threads; it stops at
// most. All descend from the first one, which inherits those that lose their parent. The
// thread is the newest, since of one that has ended the kernel reports no memory.
func family(first, most int) (processes, threads []string) {
	processes = []string{strconv.Itoa(first)}
	for i := 0; i < len(processes) && len(threads) <= most; i++ {
		tasks, _ := os.ReadDir("/proc/" + processes[i] + "/task")
		for _, task := range tasks {
			threads = append(threads, task.Name())
			processes = append(processes, strings.Fields(read(task.Name(), "task/"+task.Name()+"/children"))...)
			processes[i] = task.Name()
		}
	}
	return processes, threads
}

// read is a file of a process or thread, empty if that has ended.
func read(id, name string) string {
	raw, _ := os.ReadFile("/proc/" + id + "/" + name)
	return string(raw)
}

// fields adds up fields of a text of the kernel, in bytes.
func fields(text string, names ...string) (total int64) {
	for _, name := range names {
		_, rest, _ := strings.Cut(text, "\n"+name)
		var kilobytes int64
		_, _ = fmt.Sscan(rest, &kilobytes)
		total += kilobytes << 10
	}
	return total
}
