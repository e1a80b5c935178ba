#!/usr/bin/python3
"""Tries what a plugin has no use for, and prints one line for each way: `name: what came of it`."""
import ctypes, errno, mmap, os, signal, socket, struct, subprocess, sys

HOST, SECRET, DATABASE = sys.argv[1], sys.argv[2], sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)


def call(*args):
    if libc.syscall(*args) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return "through"


def read(path):
    with open(path, "rb") as file:
        return "read %r" % file.read(40)


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        s.connect(address)
    return "connected"


def passed_descriptor():
    """Sends itself a descriptor of its root, and climbs from there."""
    root = os.open("/", os.O_RDONLY)
    a, b = socket.socketpair(socket.AF_UNIX)
    socket.send_fds(a, [b"x"], [root])
    _, fds, _, _ = socket.recv_fds(b, 1, 1)
    for _ in range(20):
        os.fchdir(fds[0])
        os.chdir("..")
    return read("." + SECRET)


def inherited():
    """Uses what the host left open."""
    found = []
    for fd in range(3, 256):
        try:
            found.append("%d: %o" % (fd, os.fstat(fd).st_mode))
        except OSError:
            pass
    script = [f for f in found if f.split(": ")[1].startswith("100")]
    others = [f for f in found if f not in script]
    if others:
        return "found " + ", ".join(others)
    raise OSError(errno.EBADF, "nothing is open")


def environment():
    for name, value in os.environ.items():
        if "HOST_SECRET" in name or "of the host" in value:
            return "found " + name
    raise OSError(errno.ENOENT, "nothing of the host")


def stay_after_exec():
    """A process that execs in a thread may lose its parent-death signal."""
    call(157, 1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG, none
    return "unbound"


def other_abi():
    """Calls by the numbers of 32 bits, which a filter of 64 bits would not know."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid by int 0x80
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    got = function()
    if got < 0:
        raise OSError(-got, os.strerror(-got))
    return "got %d" % got


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    if done.returncode:
        raise OSError(errno.EPERM, (done.stderr or done.stdout).strip().split("\n")[-1])
    return "ran: " + done.stdout


WAYS = {
    "the database of all tenants": lambda: read(SECRET),
    "passwords": lambda: read("/etc/shadow"),
    "users": lambda: read("/etc/passwd"),
    "the host's environment": lambda: read("/proc/%s/environ" % HOST),
    "the host's memory": lambda: read("/proc/%s/mem" % HOST),
    "the host's files by its root": lambda: read("/proc/%s/root%s" % (HOST, SECRET)),
    "the first process": lambda: read("/proc/1/environ"),
    "devices of the kernel": lambda: os.listdir("/sys"),
    "other folders": lambda: os.listdir("/root") + os.listdir("/home") + os.listdir("/var"),
    "inherited descriptors": inherited,
    "a passed descriptor": passed_descriptor,
    "inherited environment": environment,
    "its own code": lambda: open(sys.argv[0], "a").close(),
    "libraries": lambda: open("/usr/lib/python3/dist-packages/evil.py", "w").close(),
    "a file of the root": lambda: open("/evil", "w").close(),
    "a library by a link": lambda: os.link("/usr/bin/python3", os.path.join(os.environ["TMPDIR"], "hard")),
    "PostgreSQL by its socket": lambda: connect(socket.AF_UNIX, DATABASE),
    "an abstract socket": lambda: connect(socket.AF_UNIX, "\0scrollery-hostile"),
    "metadata of the cloud": lambda: connect(socket.AF_INET, ("169.254.169.254", 80)),
    "the internet": lambda: connect(socket.AF_INET, ("1.1.1.1", 443)),
    "the server": lambda: connect(socket.AF_INET, ("127.0.0.1", 8080)),
    "IPv6": lambda: connect(socket.AF_INET6, ("::1", 8080)),
    "a name": lambda: socket.getaddrinfo("example.com", 443),
    "datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "raw packets": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "frames": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "routes": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "virtual machines": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
    "ciphers of the kernel": lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET),
    "a signal to the host": lambda: os.kill(int(HOST), signal.SIGKILL),
    "a signal to its group": lambda: os.killpg(int(HOST), signal.SIGKILL),
    "priority": lambda: os.nice(-5),
    "priority of others": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "a processor of its own": lambda: os.sched_setaffinity(0, {0}),
    "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "a session": os.setsid,
    "another user": lambda: os.setuid(1),
    "other groups": lambda: os.setgroups([0]),
    "staying after the host": stay_after_exec,
    "a namespace of users": lambda: run("/usr/bin/unshare", "-U", "true"),
    "a namespace of mounts": lambda: run("/usr/bin/unshare", "-m", "true"),
    "a mount": lambda: run("/usr/bin/mount", "-t", "tmpfs", "x", os.environ["TMPDIR"]),
    "rights of su": lambda: run("/usr/bin/su", "-c", "id"),
    "memory without a name": lambda: os.memfd_create("x"),
    "32-bit calls": other_abi,
}

for name, way in WAYS.items():
    try:
        result = "through: %s" % (way(),)
    except (OSError, PermissionError) as error:
        result = "refused: %s" % error
    print("%s: %s" % (name, result), flush=True)
