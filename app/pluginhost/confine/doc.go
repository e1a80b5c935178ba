// Package confine starts a process that may do what its [Policy] says, and no more.
// It knows nothing of stages and their protocol.
//
// # Threat model
//
// The process runs a binary of a third party, or a built-in that parses files, pages
// and answers of third parties. Assume that an attacker executes code in it. The host
// runs as the same user and holds the database, the secrets of all tenants and
// connections to payment and mail services. The attacker must not
//
//   - read or write files of the host's user, but for the policy's folders;
//   - reach a host that the policy does not name: of this machine, of its private
//     network or of the internet, by TCP, UDP, a Unix socket or a name lookup;
//   - read memory of other processes, signal them or change their limits;
//   - gain rights by a setuid program, a capability or a setting of the kernel;
//   - use more memory or files than allowed, or live on after the call.
//
// Out of scope: errors of the kernel, side channels of the processor, and what the
// process does with the data that the call gives it and the hosts that it may reach.
//
// # Means
//
// The host starts the running binary again with [LaunchVerb]. This launcher takes
// rights away from itself, in this order, and then executes the plugin:
//
//  1. dies with the host (PR_SET_PDEATHSIG) and runs in a process group of its own;
//  2. compares the SHA-256 of the opened file, and executes that same open file;
//  3. limits data memory, open files, file size; no core files;
//  4. sets no_new_privs and drops capabilities;
//  5. Landlock: files by path, TCP ports, abstract sockets and signals;
//  6. seccomp: closes what Landlock of this kernel does not cover, see filterCalls;
//  7. connects sockets through a supervisor in the host (seccomp user notification),
//     to the egress proxy alone.
//
// [Limitations] lists what a system does not provide for; the operator sees the list
// in the log at start and in `scrollery doctor`.
//
// # Considered and refused
//
//   - A container runtime or bubblewrap: a second thing to install and to keep
//     current, for a product that is one static binary.
//   - A virtual machine or gVisor for each call: a start takes 34-48 ms today, and most
//     calls last under a second.
//   - Only seccomp, with an allow-list of paths checked in the host: a path in the
//     memory of a process can change between the check and its use.
//   - Only Landlock: before version 4 it knows no ports, before 9 no paths of Unix
//     sockets, by which a stage would reach a database on this machine.
//   - One Unix user for each plugin: needs root, and the host should not have it.
//   - RLIMIT_AS instead of RLIMIT_DATA: Go and others reserve far more address space
//     than they use. RLIMIT_NPROC: counts all processes of the user, the host's too.
//
// # To replace it
//
// The host uses [New], [Confiner.Command], the methods of [Command] and
// [Limitations]. Other means, such as namespaces, go behind these: [Policy] says what
// to allow and not how, and [Command] owns whatever must live and end with the process.
package confine
