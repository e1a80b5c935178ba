package pluginhost

import (
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Gaps names what this system cannot keep a plugin from; none is a good answer.
func Gaps() []string {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		version = 0
	}
	watched, filtered := canWatch(), runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	var gaps []string
	for _, gap := range []struct {
		open bool
		what string
	}{
		{version < 1, "files that the host's user can read"},
		{version < 4 && !(watched && filtered), "hosts that it did not declare"},
		{version < 9 && !(watched && filtered), "sockets of this machine, by their path"},
		{!filtered, "system calls that it has no use for"},
	} {
		if gap.open {
			gaps = append(gaps, gap.what)
		}
	}
	return gaps
}

// landlocked leaves the process its own binary, the system's read-only folders,
// what its settings name and its scratch folder. A kernel that cannot do all of
// it does what it can.
func landlocked(p policy) error {
	rules := []landlock.Rule{
		landlock.ROFiles(p.Path),
		landlock.RWDirs(p.Scratch),
		// A binary that is not static has a loader and libraries.
		landlock.RODirs("/lib", "/lib64", "/usr/lib", "/usr/lib64").IgnoreIfMissing(),
		landlock.ROFiles("/etc/ld.so.cache", "/etc/ld.so.conf").IgnoreIfMissing(),
		landlock.RODirs("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/zoneinfo", "/usr/share/ca-certificates").IgnoreIfMissing(),
		landlock.ROFiles("/etc/localtime", "/etc/nsswitch.conf", "/etc/services").IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random").IgnoreIfMissing(),
	}
	if p.SHA256 != "" || p.Programs {
		// One that is not ours may need an interpreter; a program needs its data,
		// and Debian keeps some of what belongs to it elsewhere.
		rules = append(rules, landlock.RODirs("/usr", "/bin", "/sbin", "/etc/alternatives", "/etc/fonts", "/etc/python3").IgnoreIfMissing(),
			landlock.ROFiles("/etc/mime.types").IgnoreIfMissing())
	}
	if len(p.Writes) > 0 {
		// Files there may change their folder.
		rules = append(rules, landlock.RWDirs(p.Writes...).WithRefer())
		// What is remembered there holds for this boot of the system alone.
		rules = append(rules, landlock.ROFiles("/proc/sys/kernel/random/boot_id").IgnoreIfMissing())
	}
	for _, path := range p.Reads {
		rules = append(rules, readable(path))
	}
	if p.Proxy != 0 {
		rules = append(rules, landlock.ConnectTCP(p.Proxy))
	}
	return landlock.V11.BestEffort().Restrict(rules...)
}
