package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Namespaces are those of a box, flags of clone. The filter of system calls forbids more
// of them.
const Namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// Link is the file by which the launcher of a box reaches the host.
const Link = 3

const (
	scratchFiles = 64 << 10
	// maxCopy is the most of a script, in bytes. A script is copied: its interpreter opens
	// it by name, and no one outside may change it meanwhile.
	maxCopy = 256 << 20
)

// enter makes the namespaces a box: a root with what the policy shows and no more, and
// a loopback. It returns when the host has what leads into it.
func enter(p Policy, file *os.File) error {
	// The second wall against further namespaces; it fails where the first has to do. One
	// of users comes before all others.
	_ = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	boundNumbers(p.Tasks)
	_ = unix.Sethostname([]byte("plugin"))
	if err := newRoot(p, file); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	var listener int
	if p.Proxy != 0 {
		var err error
		if listener, err = loopback(p); err != nil {
			return fmt.Errorf("make a loopback: %w", err)
		}
	}
	if err := report(p, listener); err != nil {
		return fmt.Errorf("report to the host: %w", err)
	}
	return os.Chdir(p.Dir)
}

// firstNumbers are not given again once a namespace has used them up.
const firstNumbers = 300

// boundNumbers bounds the numbers of processes and threads in the namespace, and so how
// many there are, also for root, whom RLIMIT_NPROC does not bind. A kernel before Linux
// 6.14 has one such bound for the whole machine, which this must not change.
func boundNumbers(tasks int) {
	var system unix.Utsname
	var major, minor int
	if unix.Uname(&system) != nil {
		return
	}
	if n, _ := fmt.Sscanf(unix.ByteSliceToString(system.Release[:]), "%d.%d", &major, &minor); n == 2 && (major > 6 || major == 6 && minor >= 14) {
		_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(tasks+firstNumbers+1)), 0)
	}
}

// inside is the binary's path in the box. This program's own, for the built-ins, is not
// a path of any file there.
func (p Policy) inside() string {
	if strings.HasPrefix(p.Path, "/proc/") {
		return "/plugin"
	}
	return p.Path
}

// mount is one path of the new root.
type mount struct {
	path   string
	tree   int // a detached copy of a mount; -1 for what is made
	folder bool
	link   string // where a symbolic link leads
}

func newRoot(p Policy, file *os.File) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	mounts, err := gather(p, file)
	if err != nil {
		return err
	}
	// A folder of the host that nothing in here needs.
	if err := unix.Mount("root", p.Scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,nr_inodes=1024,mode=755", maxCopy+1<<20)); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	if err := errors.Join(os.Chdir(p.Scratch), unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH), os.Chdir("/")); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	// Parents come first.
	slices.SortStableFunc(mounts, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	for _, m := range mounts {
		if err := m.attach(p, file); err != nil {
			return fmt.Errorf("show %s: %w", m.path, err)
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("close the root: %w", err)
	}
	return nil
}

// gather opens all that the new root shows, before anything hides it.
func gather(p Policy, file *os.File) ([]mount, error) {
	mounts := []mount{
		{path: p.Scratch, tree: -1, folder: true},
		{path: "/dev/shm", tree: -1, link: p.Dir},
		{path: "/proc/self/exe", tree: -1, link: p.inside()}, // all that there is of /proc
	}
	const readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID
	add := func(name string, attributes uint64) error {
		if info, err := os.Lstat(name); err == nil && info.Mode().Type() == os.ModeSymlink && slices.Contains(slices.Concat(libraries[:], programs[:]), name) {
			target, err := os.Readlink(name)
			mounts = append(mounts, mount{path: name, tree: -1, link: target})
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil // gone meanwhile
		}
		tree, err := copyTree(unix.AT_FDCWD, name, unix.AT_RECURSIVE, attributes)
		mounts = append(mounts, mount{path: path.Clean(name), tree: tree, folder: info.IsDir()})
		if err != nil {
			return fmt.Errorf("show %s: %w", name, err)
		}
		return nil
	}
	for _, path := range visible(p, isScript(file)) {
		if err := add(path, readOnly|unix.MOUNT_ATTR_NODEV); err != nil {
			return nil, err
		}
	}
	for _, path := range devices {
		if err := add(path, readOnly|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return nil, err
		}
	}
	for _, path := range p.Writes {
		if err := add(path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return nil, err
		}
	}
	if isScript(file) {
		return append(mounts, mount{path: p.Path, tree: -1}), nil
	}
	tree, err := copyTree(int(file.Fd()), "", unix.AT_EMPTY_PATH, readOnly|unix.MOUNT_ATTR_NODEV)
	if err != nil && p.Path != p.inside() {
		tree, err = running(file, readOnly|unix.MOUNT_ATTR_NODEV)
	}
	if err != nil {
		return nil, fmt.Errorf("show the plugin: %w", err)
	}
	return append(mounts, mount{path: p.inside(), tree: tree}), nil
}

// running is this program by its name, since /proc/self/exe belongs to the mounts of the
// host; -1 if another file has the name by now, so that this one must be copied.
func running(file *os.File, attributes uint64) (int, error) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return -1, err
	}
	named, err := os.Open(name)
	if err != nil {
		return -1, nil
	}
	defer named.Close()
	this, err := file.Stat()
	if other, failed := named.Stat(); err != nil || failed != nil || !os.SameFile(this, other) {
		return -1, err
	}
	return copyTree(int(named.Fd()), "", unix.AT_EMPTY_PATH, attributes)
}

// copyTree is a detached copy of a mount from a path on.
func copyTree(dir int, path string, flags int, attributes uint64) (int, error) {
	tree, err := unix.OpenTree(dir, path, uint(flags)|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return tree, unix.MountSetattr(tree, "", uint(unix.AT_EMPTY_PATH|flags&unix.AT_RECURSIVE), &unix.MountAttr{Attr_set: attributes})
}

// attach puts a path into the new root. What a parent brought along is there already.
func (m mount) attach(p Policy, file *os.File) error {
	if err := os.MkdirAll(path.Dir(m.path), 0o755); err != nil {
		return err
	}
	_, err := os.Lstat(m.path)
	missing := errors.Is(err, os.ErrNotExist)
	switch {
	case m.link != "" && missing:
		return os.Symlink(m.link, m.path)
	case m.link != "":
		return nil
	case m.folder && missing:
		err = os.Mkdir(m.path, 0o755)
	case missing:
		err = os.WriteFile(m.path, nil, 0o444)
	}
	switch {
	case err != nil:
		return err
	case m.tree >= 0:
		return errors.Join(unix.MoveMount(m.tree, "", unix.AT_FDCWD, m.path, unix.MOVE_MOUNT_F_EMPTY_PATH), unix.Close(m.tree))
	case m.folder:
		options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700", p.Disk, scratchFiles)
		if err := unix.Mount("scratch", m.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return err
		}
		inside, within := strings.CutPrefix(path.Clean(p.Dir)+"/", path.Clean(p.Scratch)+"/")
		if !within {
			return fmt.Errorf("%s is not in %s", p.Dir, p.Scratch)
		}
		return os.MkdirAll(path.Join(m.path, inside), 0o700)
	}
	return copyFile(m.path, file)
}

func copyFile(at string, file *os.File) error {
	to, err := os.OpenFile(at, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.NewSectionReader(file, 0, maxCopy))
	if n == maxCopy {
		err = fmt.Errorf("it has more than %d bytes", maxCopy)
	}
	return errors.Join(err, to.Chmod(0o555), to.Close())
}

// loopback returns a socket that listens at the proxy's address. The host accepts from it.
func loopback(p Policy) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return 0, err
	}
	request.SetUint16(unix.IFF_UP)
	return fd, errors.Join(
		unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request),
		unix.Bind(fd, &unix.SockaddrInet4{Port: int(p.Proxy), Addr: [4]byte{127, 0, 0, 1}}),
		unix.Listen(fd, 128))
}

// report gives the host the scratch folder and the listening socket, if there is one,
// and waits for its answer: without one, the host is gone.
func report(p Policy, listener int) error {
	defer unix.Close(Link)
	scratch, err := unix.Open(p.Scratch, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(scratch)
	rights := unix.UnixRights(scratch)
	if listener > 0 {
		defer unix.Close(listener)
		rights = unix.UnixRights(scratch, listener)
	}
	if err := unix.Sendmsg(Link, []byte{0}, rights, nil, 0); err != nil {
		return err
	}
	if n, err := unix.Read(Link, make([]byte, 1)); err != nil || n != 1 {
		return errors.Join(errors.New("the host is gone"), err)
	}
	return nil
}
