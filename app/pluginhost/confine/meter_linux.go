package confine

import (
	"fmt"
	"os"
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

func tooMuch(p Policy) error {
	return fmt.Errorf("used more than %d MiB of memory in its processes, files and sockets", (p.Memory+p.Disk)>>20)
}
