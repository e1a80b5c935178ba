package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// trust is the time for which a stored count is used. Files that are added by other
// means count after that time; files that are deleted by other means stop counting as
// soon as their space is needed.
const trust = time.Minute

// count is the size of the files folder. It is stored in the lock's own file, which
// the writing process holds:
//
//	<boot> <used> <entries> <walked, Unix milliseconds>
//
// The file is empty during a change, so that a killed process leaves no count behind.
// A count of another boot may be older than the files, if the machine lost power, and
// one of another machine may be out of date: neither is used. On systems without a boot
// id, everything is counted each time.
type count struct {
	used    int64
	entries int
	walked  time.Time
}

// bootID names the current start of the machine; it is empty on systems without such a name.
var bootID = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})

// counted returns the count in the lock, or counts again.
func (f *Folder) counted(lock *os.File) (count, error) {
	var text [256]byte
	n, _ := lock.ReadAt(text[:], 0)
	var c count
	var boot string
	var walked int64
	found, err := fmt.Sscanf(string(text[:n]), "%s %d %d %d\n", &boot, &c.used, &c.entries, &walked)
	c.walked = time.UnixMilli(walked)
	age := time.Since(c.walked)
	if err == nil && found == 4 && boot == bootID() && age >= 0 && age < trust {
		return c, nil
	}
	return f.recount()
}

// recount counts every file and folder.
func (f *Folder) recount() (count, error) {
	c := count{walked: time.Now()}
	err := f.walk(func(_ string, info fs.FileInfo) {
		c.entries++
		if info.Mode().IsRegular() {
			c.used += info.Size()
		}
	})
	return c, err
}

// changing removes the stored count before a change.
func changing(lock *os.File) error {
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("begin a change: %w", err)
	}
	return nil
}

// keep stores the count after a change. If that fails, the next write counts again.
func (c count) keep(lock *os.File) {
	if boot := bootID(); boot != "" {
		text := fmt.Sprintf("%s %d %d %d\n", boot, c.used, c.entries, c.walked.UnixMilli())
		if _, err := lock.WriteAt([]byte(text), 0); err != nil {
			_ = lock.Truncate(0)
		}
	}
}

// made returns the number of files and folders that a write to name adds.
func (f *Folder) made(name string) (entries int, err error) {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := f.look(at)
		if err != nil {
			return 0, err
		}
		if info != nil {
			break
		}
		entries++
	}
	return entries, nil
}
