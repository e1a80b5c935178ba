package pluginhost

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlocked leaves the process its own binary, the system's read-only folders,
// what its settings name and its scratch folder. A kernel that cannot do all of
// it does what it can. A script gets the system's programs, since its interpreter
// is one of them.
func landlocked(p policy, script bool) error {
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
	if p.SHA256 != "" {
		rules = append(rules, landlock.RODirs("/usr/local/lib", "/usr/local/lib64").IgnoreIfMissing())
	}
	if script || p.Programs {
		// A program needs its data, and Debian keeps some of what belongs to it elsewhere.
		rules = append(rules, landlock.RODirs("/usr", "/bin", "/sbin", "/etc/alternatives", "/etc/fonts", "/etc/python3").IgnoreIfMissing(),
			landlock.ROFiles("/etc/mime.types").IgnoreIfMissing())
	}
	if len(p.Writes) > 0 {
		rules = append(rules, writable(landlockVersion(), p.Writes))
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

// writable lets folders be written, and files there change their folder where the
// kernel has a right for that: version 1 always refuses it, and the library, asked for
// it there, would confine nothing at all.
func writable(version int, paths []string) landlock.Rule {
	rule := landlock.RWDirs(paths...)
	if version < 2 {
		return rule
	}
	return rule.WithRefer()
}

// landlockVersion is that of the kernel; 0 is none.
func landlockVersion() int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}
