package launch

import (
	"os"
	"slices"
	"strings"
)

// A binary that is not static has a loader and libraries.
var libraries = [...]string{
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/usr/local/lib", "/usr/local/lib64",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/zoneinfo", "/usr/share/ca-certificates",
	"/etc/localtime", "/etc/nsswitch.conf", "/etc/services",
}

// A program needs its data, and Debian keeps some of what belongs to it elsewhere.
var programs = [...]string{"/usr", "/bin", "/sbin", "/etc/alternatives", "/etc/fonts", "/etc/python3", "/etc/mime.types"}

var devices = [...]string{"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"}

// bootID is read by programs that keep files between runs.
const bootID = "/proc/sys/kernel/random/boot_id"

// visible are the paths of the system and of the policy that a process may read. A
// script may use the system's programs, since its interpreter is one.
func visible(p Policy, script bool) []string {
	paths := slices.Clone(libraries[:])
	if script || p.Programs {
		paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasPrefix(path, "/usr/") })
		paths = append(paths, programs[:]...)
	}
	paths = append(paths, p.Reads...)
	if len(p.Writes) > 0 {
		paths = append(paths, bootID)
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}
