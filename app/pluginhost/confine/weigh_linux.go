package confine

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/pluginhost/confine/launch"
)

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
