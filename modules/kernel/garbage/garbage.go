// Package garbage says how much of it may gather before Go collects it.
//
// Go's own pace lets as much gather as is in use. A server that has 4 MB in use would look
// for garbage every 4 MB, each time for some milliseconds in which calls wait for
// processors; an import that has much in use would take twice as much.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Pace says how much garbage may gather.
type Pace struct {
	// Spare is how many bytes may, whatever is in use.
	Spare uint64
	// Least and Most bound it, in percent of what is in use. Below Least a large heap would
	// be searched without end.
	Least, Most uint64
}

// Keep keeps the pace until the process ends: it follows what is in use after each
// collection. A pace that the environment sets by GOGC stays instead.
func (p Pace) Keep() {
	if os.Getenv("GOGC") == "" {
		p.follow(0)
	}
}

// follow sets the pace where it is another one, and again after the next collection.
func (p Pace) follow(last int) {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	now := p.percent(inUse[0].Value.Uint64())
	if now != last {
		debug.SetGCPercent(now)
	}
	runtime.AddCleanup(new([1 << 10]byte), p.follow, now)
}

// percent is the pace for so many bytes in use.
func (p Pace) percent(inUse uint64) int {
	return int(min(max(p.Spare*100/max(inUse, 1), p.Least), p.Most))
}
