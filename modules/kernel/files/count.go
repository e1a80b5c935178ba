package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// trust is how long a count is taken for true since everything was counted. Files
// that somebody puts there by other means are seen after that at the latest; what
// is deleted by other means, as soon as its room is needed.
const trust = time.Minute

// count is what lies in the files folder. It is kept in the lock's own file, which
// whoever writes holds:
//
//	<boot> <used> <entries> <walked, Unix milliseconds>
//
// The file is empty while something changes, so a process that is killed meanwhile
// leaves no count behind. A count of another boot may be older than the files are,
// if the machine lost power, and one of another machine's is not known to be in
// step: neither is taken. Where the system does not name its boots, all is counted
// each time.
type count struct {
	used    int64
	entries int
	walked  time.Time
}

// counted returns the count that the lock keeps, or counts.
func (f *Folder) counted(lock *os.File) (count, error) {
	var text [256]byte
	n, _ := lock.ReadAt(text[:], 0)
	var c count
	var boot string
	var walked int64
	found, err := fmt.Sscanf(string(text[:n]), "%s %d %d %d\n", &boot, &c.used, &c.entries, &walked)
	c.walked = time.UnixMilli(walked)
	age := time.Since(c.walked)
	if err == nil && found == 4 && boot == thisBoot() && age >= 0 && age < trust {
		return c, nil
	}
	return f.recount()
}

// recount looks at every file and folder.
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

// changing says that the count is not true for now.
func changing(lock *os.File) error {
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("begin a change: %w", err)
	}
	return nil
}

// keep says that it is again. A count that cannot be kept is made anew.
func (c count) keep(lock *os.File) {
	if boot := thisBoot(); boot != "" {
		text := fmt.Sprintf("%s %d %d %d\n", boot, c.used, c.entries, c.walked.UnixMilli())
		if _, err := lock.WriteAt([]byte(text), 0); err != nil {
			_ = lock.Truncate(0)
		}
	}
}

// made is how many files and folders a write to name adds.
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

// thisBoot is the system's name for the time since it was started; empty where it
// has none.
func thisBoot() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}
