package launch

import (
	"errors"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	readRights = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	// fileRights are the rights that a file can have.
	fileRights = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	// noRights are those that a folder to write does not come with.
	noRights = ll.AccessFSIoctlDev | ll.AccessFSMakeChar | ll.AccessFSMakeBlock
)

// landlocked repeats the rules of the box, in case that has a hole; without a box, it is
// most of what there is. An older kernel enforces the part that it knows.
//
// It binds this thread and the processes that it starts. The library's Restrict binds all
// threads, for which a build with C reads /proc, which the box does not have.
func landlocked(o Order, script bool) error {
	version, err := ll.LandlockGetABIVersion()
	if err != nil || version < 1 {
		return nil // a kernel without
	}
	known := [...]landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6}
	handled := known[min(version, len(known))-1]
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{
		HandledAccessFS: uint64(handled.HandledAccessFS), HandledAccessNet: uint64(handled.HandledAccessNet), Scoped: uint64(handled.Scoped),
	}, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	for path, rights := range rightsOf(o, script) {
		if err := beneath(ruleset, path, rights&handled.HandledAccessFS); err != nil {
			return err
		}
	}
	if handled.HandledAccessNet != 0 && o.Proxy != 0 {
		port := ll.NetPortAttr{AllowedAccess: ll.AccessNetConnectTCP, Port: uint64(o.Proxy)}
		if err := ll.LandlockAddNetPortRule(ruleset, &port, 0); err != nil {
			return err
		}
	}
	return ll.LandlockRestrictSelf(ruleset, 0)
}

// rightsOf are the rights at each path and below.
func rightsOf(o Order, script bool) map[string]landlock.AccessFSSet {
	paths := map[string]landlock.AccessFSSet{"/": readRights}
	if !o.Boxed {
		paths = map[string]landlock.AccessFSSet{o.Path: readRights}
		for _, path := range visible(o.Policy, script) {
			paths[path] = readRights
		}
	}
	for _, path := range devices {
		paths[path] = fileRights
	}
	for _, path := range append(o.Writes, o.Scratch) {
		paths[path] = landlock.V6.HandledAccessFS &^ noRights
	}
	return paths
}

// beneath allows rights at a path and below. A missing one is ignored.
func beneath(ruleset int, path string, rights landlock.AccessFSSet) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	return ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: uint64(rights)}, 0)
}
