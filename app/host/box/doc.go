// Package box starts a process that may do what its [Policy] says, and no more.
// It knows nothing of stages and their protocol.
//
// # Threat model
//
// The process runs a binary of a third party, or a built-in that parses files, pages
// and answers of third parties. Assume that an attacker executes code in it. The host
// runs as the same user and holds the database, the secrets of all tenants and
// connections to payment and mail services. The attacker must not
//
//   - see files, processes or sockets of the host's machine, but for the policy's;
//   - reach a host that the policy does not name: of this machine, of its private
//     network or of the internet, by any protocol or a name lookup;
//   - gain rights by a setuid program, a capability or a further namespace;
//   - use more memory, processes, files or time of the processor than the policy says,
//     with all that it starts, or leave anything behind: a process, a file, a lock.
//
// Out of scope: errors of the kernel, side channels of the processor, and what the
// process does with the data that the call gives it and the hosts that it may reach.
//
// # The box
//
// The running binary is started again with [LaunchVerb], in new user, mount, PID, IPC,
// UTS, cgroup and network namespaces. A small helper of the host does so, since the host
// would stand still while the tables of its memory are copied; the new process is the
// host's child all the same. The host does it itself where the box begins in a cgroup, or
// where a helper does not work. This launcher
//
//  1. dies with the host (PR_SET_PDEATHSIG), and all of its namespace with it;
//  2. compares the SHA-256 of the opened file, and shows that same open file, or a copy
//     of it if it is a script;
//  3. makes a root of its own, read-only: the system's libraries, certificates and three
//     devices, the files of the policy, and a scratch folder in memory of a fixed size;
//  4. makes a loopback, the only network, listens there and hands the listener and the
//     scratch folder to the host by a passed socket;
//  5. sets resource limits and no_new_privs, drops all capabilities;
//  6. Landlock, as a second wall: files, TCP ports, abstract sockets, signals;
//  7. seccomp: Docker's list of allowed calls, less what no plugin needs (TestProfile
//     has the reasons). Locks of files succeed and lock nothing: the system's files are the
//     same for all boxes, and a lock would be a word from one to another;
//  8. starts the plugin as its only child and waits for it.
//
// The host serves the egress proxy from the listener. If a cgroup v2 is delegated to it,
// the box starts in one of its own that bounds memory, processes and, if the controller is
// there, time of the processor, see openGroups. Four times a second, the host counts the
// threads of the box; without a cgroup it also adds up the resident memory of all
// processes, the scratch folder and the sockets, and ends the box if that is too much, see
// look. So that many threads do not starve the host, they get nicer the more of them run,
// see weigh.
//
// # Not bounded without a cgroup
//
// The kernel bounds each process (RLIMIT_DATA, RLIMIT_NOFILE) and how many there are
// (RLIMIT_NPROC; for root the namespace's highest number, since Linux 6.14). Of all
// processes together it then bounds nothing, and a look misses
//
//   - what is used and returned between two looks, up to 5 s apart where hundreds of
//     processes share memory, since the kernel takes long to divide it;
//   - processes that end before they are read, as in a chain of forks;
//   - the kernel's own memory for mappings, open files and pipes: 65,530 mappings and
//     RLIMIT_NOFILE files a process, 64 MiB of pipes a user.
//
// An attacker can use these to take memory of the machine, until the kernel ends the box,
// whose processes come first (oom_score_adj). `scrollery doctor` reports a missing cgroup.
//
// [Confiner.Missing] builds a first box that does nothing, and returns the part that
// failed. A binary of a third party then does not start ([ErrNoBox]), unless the
// operator turned the box off. A built-in starts with resource limits, Landlock and
// seccomp alone.
//
// # Considered and refused
//
//   - A container runtime or bubblewrap: a second thing to install and to keep
//     current, for a product that is one static binary.
//   - A virtual machine or gVisor for each call: most calls last under a second.
//   - A supervisor that answers connect for the process (seccomp user notification):
//     it reads memory that the process can change.
//   - /proc in the box: containers may not mount it. /proc/self/exe is a link.
//   - The plugin as first process: after an exec in a thread, no parent-death signal.
//   - memfd_create, anonymous shared memory and /dev/zero: their memory stays when no
//     process has it mapped, and is in no sum then.
//   - One Unix user for each plugin: needs root, and the host should not have it. So a
//     host of root does not bound processes by RLIMIT_NPROC, which never holds for root;
//     the cgroup does, or the highest number of the namespace, or the sum.
//   - Another real user alone under a host of root, whom RLIMIT_NPROC binds: glibc takes
//     TMPDIR and others from every process whose real and effective user differ.
//   - RLIMIT_AS instead of RLIMIT_DATA: Go and others reserve far more address space
//     than they use.
package box
