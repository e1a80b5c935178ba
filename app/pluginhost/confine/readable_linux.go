package confine

import (
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	readFile = landlock.AccessFSSet(llsys.AccessFSReadFile)
	readDir  = landlock.AccessFSSet(llsys.AccessFSReadDir)
)

// readable allows to read a file or folder. A missing one is ignored: the process
// finds out by itself.
func readable(path string) landlock.Rule {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return landlock.PathAccess(readFile, path).IgnoreIfMissing()
	}
	return landlock.PathAccess(readFile|readDir, path).IgnoreIfMissing()
}
