package box

import (
	"math"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// few is how many running threads of a box a processor may have before they get nicer: so
// many together weigh as much as one of the server, see [launch.Niceness].
const few = 3

// weigh makes threads nicer the more of them want a processor. Niceness is of a thread, so
// many would starve the server in spite of it.
func weigh(threads []string) {
	if len(threads) <= few*runtime.NumCPU() {
		return
	}
	running := 0
	for _, id := range threads {
		_, state, _ := strings.Cut(read(id, "status"), "\nState:\t")
		running += strings.Count(state[:min(1, len(state))], "R")
	}
	each := float64(running) / float64(few*runtime.NumCPU())
	rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the niceness of the host
	if each <= 1 || err != nil {
		return
	}
	// A level less is a quarter more time; see sched(7).
	level := 20 - rank + launch.Niceness + int(math.Ceil(math.Log(each)/math.Log(1.25)))
	for _, name := range threads {
		id, _ := strconv.Atoi(name)
		if now, err := unix.Getpriority(unix.PRIO_PROCESS, id); err != nil || level <= 20-now {
			continue
		}
		if _ = unix.Setpriority(unix.PRIO_PROCESS, id, min(level, 19)); level > 19 {
			_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		}
	}
}
