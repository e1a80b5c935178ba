package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// spareHeap is how many bytes of garbage may gather, whatever is in use: an import is
	// bounded in memory, and Go's own pace lets as much gather as is in use.
	spareHeap = 48 << 20
	// leastPercent bounds the pace of a large heap, which would else be searched without
	// end; mostPercent that of a small one.
	leastPercent, mostPercent = 25, 300
)

// collectSeldom has garbage collected less often while little memory is in use, and more
// often while much is, until the process ends. A pace that the environment sets stays.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		paceGC()
	}
}

// paceGC sets the pace by what is in use now, and again after each collection.
func paceGC() {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	debug.SetGCPercent(gcPercent(inUse[0].Value.Uint64()))
	runtime.AddCleanup(new([1 << 10]byte), func(int) { paceGC() }, 0)
}

// gcPercent is the pace for so many bytes in use.
func gcPercent(inUse uint64) int {
	return int(min(max(spareHeap*100/max(inUse, 1), leastPercent), mostPercent))
}
