package confine

import (
	"net/netip"
)

// Policy is what a process may do. A zero field allows nothing.
type Policy struct {
	// Path is the binary, Args its arguments without the name.
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"`
	// SHA256 of the binary in lower-case hexadecimal; empty for this program itself.
	// Another file is not started, see [ErrHash].
	SHA256 string `json:"sha256,omitempty"`
	// Memory is the most data memory in bytes, Files the most open files.
	Memory int64 `json:"memory"`
	Files  int   `json:"files"`
	// Scratch and Writes are folders that may be read and written; Reads are files and
	// folders that may be read. A missing one of Reads is ignored.
	Scratch string   `json:"scratch"`
	Writes  []string `json:"writes,omitempty"`
	Reads   []string `json:"reads,omitempty"`
	// Proxy is the only address that the process may connect to; the zero value is no
	// network.
	Proxy netip.AddrPort `json:"proxy,omitzero"`
	// Programs allows to run programs of the system.
	Programs bool `json:"programs,omitempty"`
}

// order is a policy on its way to the launcher, as one argument.
type order struct {
	Policy
	// Parent is the host's process id: a launcher whose parent has ended must not go on.
	Parent int `json:"parent"`
	// Supervised has the host connect the process's sockets.
	Supervised bool `json:"supervised,omitempty"`
}
