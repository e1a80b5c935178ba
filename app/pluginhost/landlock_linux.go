package pluginhost

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Confinement is how far this kernel can confine plugins: 0 is not at all, from 4
// on it includes the ports.
func Confinement() int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
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
	}
	for _, path := range p.Reads {
		rules = append(rules, readable(path))
	}
	if p.Proxy != 0 {
		rules = append(rules, landlock.ConnectTCP(p.Proxy))
	}
	return landlock.V11.BestEffort().Restrict(rules...)
}
