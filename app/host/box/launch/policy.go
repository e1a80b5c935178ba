package launch

// Policy is what a process and all that it starts may do and use. A zero field allows
// nothing.
type Policy struct {
	// Path is the binary, Args its arguments without the name.
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"`
	// SHA256 of the binary in lower-case hexadecimal; empty for this program itself.
	// Another file is not started, see [ErrHash].
	SHA256 string `json:"sha256,omitempty"`
	// Memory is the most data memory of one process in bytes, and Files its most open
	// files.
	Memory int64 `json:"memory"`
	Files  int   `json:"files"`
	// In a box, Disk is the size of the scratch folder in bytes, Memory plus Disk the most
	// memory of all processes and their files together, and Tasks the most processes
	// and threads.
	Disk  int64 `json:"disk"`
	Tasks int   `json:"tasks"`
	// Scratch and Writes are folders that may be read and written; Reads are files and
	// folders that may be read. A missing one of Reads is ignored. In a box, Scratch is
	// empty memory at this path.
	// All files below Writes together have at most Written bytes on the disk, and are at most
	// WrittenFiles.
	Scratch      string   `json:"scratch"`
	Writes       []string `json:"writes,omitempty"`
	Written      int64    `json:"written,omitempty"`
	WrittenFiles int      `json:"writtenFiles,omitempty"`
	Reads        []string `json:"reads,omitempty"`
	// Dir is the working folder, below Scratch.
	Dir string `json:"dir"`
	// Proxy is the only port that the process may connect to, of its loopback, which in a
	// box is its own; 0 is no network.
	Proxy uint16 `json:"proxy,omitempty"`
	// Programs allows to run programs of the system.
	Programs bool `json:"programs,omitempty"`
}

// Order is a policy on its way to the launcher, as one argument.
type Order struct {
	Policy
	Boxed bool `json:"boxed,omitempty"`
	// Parent is the host's process id: a launcher whose parent has ended must not go on.
	Parent int `json:"parent"`
}
