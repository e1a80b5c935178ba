package confine

import (
	"errors"
	"os"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	landlockRead = llsys.AccessFSExecute | llsys.AccessFSReadFile | llsys.AccessFSReadDir
	// landlockFile are the rights that a file can have.
	landlockFile = llsys.AccessFSExecute | llsys.AccessFSReadFile | llsys.AccessFSWriteFile | llsys.AccessFSTruncate
)

// landlocked repeats what the box says, for the case that it has a hole, and is most of
// what there is without a box. An older kernel enforces the part that it knows. It binds
// this thread and what it starts: the library's own way needs /proc, for all threads.
func landlocked(o order, script bool) error {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return nil // a kernel without
	}
	rules := llsys.RulesetAttr{HandledAccessFS: llsys.AccessFSExecute | llsys.AccessFSWriteFile | llsys.AccessFSReadFile |
		llsys.AccessFSReadDir | llsys.AccessFSRemoveDir | llsys.AccessFSRemoveFile | llsys.AccessFSMakeChar | llsys.AccessFSMakeDir |
		llsys.AccessFSMakeReg | llsys.AccessFSMakeSock | llsys.AccessFSMakeFifo | llsys.AccessFSMakeBlock | llsys.AccessFSMakeSym}
	for least, right := range map[int]uint64{2: llsys.AccessFSRefer, 3: llsys.AccessFSTruncate, 5: llsys.AccessFSIoctlDev} {
		if version >= least {
			rules.HandledAccessFS |= right
		}
	}
	if version >= 4 {
		rules.HandledAccessNet = llsys.AccessNetBindTCP | llsys.AccessNetConnectTCP
	}
	if version >= 6 {
		rules.Scoped = llsys.ScopeAbstractUnixSocket | llsys.ScopeSignal
	}
	ruleset, err := llsys.LandlockCreateRuleset(&rules, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	paths := map[string]uint64{"/": landlockRead}
	if !o.Boxed {
		paths = map[string]uint64{o.Path: landlockRead}
		for _, path := range visible(o.Policy, script) {
			paths[path] = landlockRead
		}
	}
	for _, path := range devices {
		paths[path] = landlockFile & rules.HandledAccessFS
	}
	for _, path := range append(o.Writes, o.Scratch) {
		paths[path] = rules.HandledAccessFS &^ (llsys.AccessFSIoctlDev | llsys.AccessFSMakeChar | llsys.AccessFSMakeBlock)
	}
	for path, rights := range paths {
		if err := beneath(ruleset, path, rights); err != nil {
			return err
		}
	}
	if rules.HandledAccessNet != 0 && o.Proxy.IsValid() {
		if err := llsys.LandlockAddNetPortRule(ruleset, &llsys.NetPortAttr{AllowedAccess: llsys.AccessNetConnectTCP, Port: uint64(o.Proxy.Port())}, 0); err != nil {
			return err
		}
	}
	return llsys.LandlockRestrictSelf(ruleset, 0)
}

// beneath allows rights at a path and below. A missing one is ignored.
func beneath(ruleset int, path string, rights uint64) error {
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
		rights &= landlockFile
	}
	return llsys.LandlockAddPathBeneathRule(ruleset, &llsys.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights}, 0)
}
