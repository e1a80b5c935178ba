package confine

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlocked allows the process its own binary, the system's libraries and
// certificates, and the folders of its policy. An older kernel enforces the part that
// it knows. A script may use the system's programs, since its interpreter is one.
func landlocked(p Policy, script bool) error {
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
		// A program that keeps files between runs reads which boot of the system it is.
		rules = append(rules, landlock.ROFiles("/proc/sys/kernel/random/boot_id").IgnoreIfMissing())
	}
	for _, path := range p.Reads {
		rules = append(rules, readable(path))
	}
	if p.Proxy.IsValid() {
		rules = append(rules, landlock.ConnectTCP(p.Proxy.Port()))
	}
	return landlock.V11.BestEffort().Restrict(rules...)
}

// writable allows to write folders, and to move files between them where the kernel
// has a right for that. Version 1 always refuses to move, and the library would confine
// nothing at all if asked for that right there.
func writable(version int, paths []string) landlock.Rule {
	rule := landlock.RWDirs(paths...)
	if version < 2 {
		return rule
	}
	return rule.WithRefer()
}

// landlockVersion is the version of Landlock in this kernel; 0 is none.
func landlockVersion() int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}
