package launch

import (
	"os"
	"slices"
	"strings"
)

// A binary that is not static has a loader and libraries. Of /etc/ssl and /etc/pki it sees
// what is public: others keep the keys of services there.
var libraries = [...]string{
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/usr/local/lib", "/usr/local/lib64",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
	"/etc/pki/tls/openssl.cnf", "/etc/ca-certificates", "/var/lib/ca-certificates", "/usr/share/zoneinfo", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
	"/etc/localtime", "/etc/nsswitch.conf", "/etc/services",
}

// A program needs its data, and Debian keeps some of what belongs to it elsewhere. Not all of
// /usr: an operator may keep files in /usr/local.
var programs = [...]string{"/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/share", "/usr/local/bin", "/usr/local/share/perl", "/usr/local/share/perl5", "/bin", "/sbin", "/etc/alternatives", "/etc/fonts", "/etc/python3", "/etc/mime.types"}

// Not /dev/zero: what is mapped of it is shared memory of no file, see callFilter.
var devices = [...]string{"/dev/null", "/dev/urandom", "/dev/random"}

// bootID is read by programs that keep files between runs.
const bootID = "/proc/sys/kernel/random/boot_id"

// visible are the paths of the system and of the policy that a process may read. A
// script may use the system's programs, since its interpreter is one.
func visible(p Policy, script bool) []string {
	paths := slices.Clone(libraries[:])
	if script || p.Programs {
		paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasPrefix(path, "/usr/share/") })
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
