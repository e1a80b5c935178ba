// Package power is about power cuts: it writes to the disk what must survive one, and tells
// whether there may have been one.
package power

import (
	"os"
	"strings"
	"sync"
)

// Boot names the current start of the machine: what was done under another name may be
// undone in part. It is empty on systems without such a name.
var Boot = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})
