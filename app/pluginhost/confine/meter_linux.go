package confine

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// period is how often the host looks at what a box uses, where that takes less than a share of
// its time; mostPeriod is how often at least.
const (
	period     = 250 * time.Millisecond
	mostPeriod = 800 * time.Millisecond
	share      = 10
)

// meter returns when a box uses more than its policy allows, or has ended. In a cgroup, the
// kernel bounds memory.
func meter(first int, scratch *os.File, p Policy, grouped bool, ended <-chan struct{}) error {
	runtime.LockOSThread() // see spent
	defer runtime.UnlockOSThread()
	u := &usage{first: first, scratch: scratch, p: p, grouped: grouped}
	for {
		took, err := u.measure()
		if err != nil {
			return err
		}
		select {
		case <-time.After(min(max(period, share*took), mostPeriod)):
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
	leastLooks = 3 // where they take longer than lookTime
	lookTime   = 200 * time.Millisecond
	pause      = 10 * time.Millisecond
	hiding     = 2 * period // for longer, no process ends
)

// usage is what a box uses, and what is known of its processes from the look before.
type usage struct {
	first   int
	scratch *os.File
	p       Policy
	grouped bool

	ended    map[string]bool      // such as one whose parent never waits for it
	headless map[string]time.Time // since when
	parts    map[string]part
	mean     int64 // memory of a process
	gone     int64 // parts of processes that ended, which may be others' now
}

// measure adds up all processes of a box and the files in its memory. took is of the processor.
func (u *usage) measure() (took time.Duration, err error) {
	over, began, start := int64(0), time.Now(), spent()
	for n := 0; n < looks && (n < leastLooks || time.Since(began) < lookTime); n++ {
		by, again, err := u.look()
		took = spent() - start
		if err != nil || n == 0 && by <= 0 && !again {
			return took, err
		}
		if n > 0 { // what ended before the first need not have been at once
			over += by
		}
		time.Sleep(pause)
	}
	if over <= 0 {
		return took, nil
	}
	return took, tooMuch(u.p)
}

// spent is the time of the processor that this thread took.
func spent() time.Duration {
	var all unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &all)
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

// look is one measure. over is by how much the memory is above its bound if processes that
// ended meanwhile had as much as others. again is true where a process may begin to hide.
func (u *usage) look() (over int64, again bool, err error) {
	p, endedBefore, headlessBefore := u.p, u.ended, u.headless
	u.ended, u.headless = map[string]bool{}, map[string]time.Time{}
	var lost, parts, used int64
	var had []int64 // by process
	hidden := false
	processes, tasks, err := family(u.first, p.Tasks, func(process string) {
		// At once, as it may live for a moment.
		memory, lives := resident(process)
		had, used = append(had, memory), used+memory
		switch {
		case lives:
		case threaded(process):
			since, before := headlessBefore[process]
			if !before {
				since, again, lost = time.Now(), true, lost+1
			}
			u.headless[process], hidden = since, hidden || time.Since(since) > hiding
		default:
			u.ended[process] = true
			if last, known := u.parts[process]; endedBefore[process] {
			} else if known {
				parts += last.memory
			} else {
				lost++
			}
		}
	})
	if err != nil {
		return 0, false, err
	}
	if tasks > p.Tasks {
		return 0, false, fmt.Errorf("used more than %d processes and threads", p.Tasks)
	}
	if most := fullProcesses * p.Files; len(processes) > fullProcesses && u.opened(processes) > most {
		return 0, false, fmt.Errorf("used more than %d open files", most)
	}
	if len(p.Writes) > 0 && u.written(processes) > p.Written {
		return 0, false, fmt.Errorf("wrote more than %d MiB, or %d files, into its folders", p.Written>>20, p.WrittenFiles)
	}
	if err := weigh(processes, tasks); err != nil || u.grouped {
		return 0, false, err
	}
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(u.scratch.Fd()), &disk); err != nil {
		return 0, false, fmt.Errorf("measure the scratch folder: %w", err)
	}
	files := int64(disk.Blocks-disk.Bfree)*disk.Bsize + buffers(u.first) + mappings(processes)
	bound := p.Memory + p.Disk
	// Memory that processes share counts for each of them here, and once below: the
	// kernel takes far longer for that.
	if files+used > bound {
		sure, rest := u.proportional(processes, had)
		if files+sure > bound {
			return 0, false, tooMuch(p)
		}
		used = sure + rest
	} else {
		u.gone = 0
	}
	over = files + used + parts + lost*u.mean - bound
	u.mean = used / max(int64(len(processes)-len(u.ended)-len(u.headless)), 1)
	if hidden {
		over = bound
	}
	return over, again, nil
}

func tooMuch(p Policy) error {
	return fmt.Errorf("used more than %d MiB of memory in its processes, files and sockets", (p.Memory+p.Disk)>>20)
}
