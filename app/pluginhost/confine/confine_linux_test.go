package confine

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own launcher, and the process that it confines.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case LaunchVerb:
			os.Exit(Launch(os.Args[2:]))
		case "attempt":
			var all []string
			for _, term := range os.Args[2:] {
				do, arg, _ := strings.Cut(term, ":")
				text, err := attempt(do, arg)
				if err != nil {
					text = err.Error()
				}
				all = append(all, text)
			}
			_ = json.NewEncoder(os.Stdout).Encode(all)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// bundle is a confiner, a file of the host outside of every policy, and a server that
// is the proxy of every process.
type bundle struct {
	confiner *Confiner
	secret   string
	proxy    string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	if landlockVersion() < 1 {
		t.Skip("this kernel has no Landlock")
	}
	b := &bundle{confiner: New([]string{"/proc/self/exe"}), secret: filepath.Join(t.TempDir(), "scrollery.db"), proxy: server(t)}
	t.Cleanup(b.confiner.Close)
	if err := os.WriteFile(b.secret, []byte("the database"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// server is the address of a server that accepts and closes connections.
func server(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}

// attempt runs the terms in one confined process and returns the result of each.
func (b *bundle) attempt(t *testing.T, network bool, terms ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	policy := Policy{Path: self, Args: append([]string{"attempt"}, terms...), Memory: 512 << 20, Files: 64, Scratch: t.TempDir()}
	if network {
		policy.Proxy = netip.MustParseAddrPort(b.proxy)
	}
	command, err := b.confiner.Command(policy, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command.Dir, command.Env, command.Stdout, command.Stderr = policy.Scratch, []string{"TMPDIR=" + policy.Scratch}, in, os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	raw, err := io.ReadAll(out)
	if end := command.AwaitExit()(); err != nil || end != nil {
		t.Fatalf("the process ended with %v (%v): %s", end, err, raw)
	}
	var got []string
	if err := json.Unmarshal(raw, &got); err != nil || len(got) != len(terms) {
		t.Fatalf("%d results of %d attempts (%v): %s", len(got), len(terms), err, raw)
	}
	return got
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if limits := Limitations(); len(limits) > 0 {
		t.Skipf("this system does not keep plugins from %q", limits)
	}
	other := server(t)
	for _, c := range []struct {
		name, term string
		network    bool
		want       string
	}{
		{"the proxy is reached", "dial:" + b.proxy, true, "through"},
		{"another port is refused", "dial:" + other, true, "permission denied"},
		{"without a proxy no port is reached", "dial:" + b.proxy, false, "permission denied"},
		// Landlock refuses to bind a port, but not to listen without.
		{"listening is refused", "listen:", true, "permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := b.attempt(t, c.network, c.term)[0]; !strings.HasSuffix(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.term, got, c.want)
			}
		})
	}
}

// TestFilesOfTheHost covers what Landlock has no right for: modes, owners, attributes
// and times.
func TestFilesOfTheHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before, err := os.Stat(b.secret)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var terms []string
	for _, do := range slices.Sorted(maps.Keys(fileChanges(""))) {
		path := b.secret
		if strings.HasPrefix(do, "f") && do != "fchmodat2" && do != "file_setattr" || do == "setflags" {
			path = own // which it may read
		}
		terms = append(terms, do+":"+path)
	}
	for i, got := range b.attempt(t, true, terms...) {
		if !strings.Contains(got, "operation not permitted") {
			t.Errorf("%s: got %q, want it refused", terms[i], got)
		}
	}
	after, err := os.Stat(b.secret)
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		Mode  os.FileMode
		Time  int64
		Owner uint32
	}
	of := func(info os.FileInfo) state {
		return state{info.Mode(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Uid}
	}
	if diff := cmp.Diff(of(before), of(after)); diff != "" {
		t.Errorf("the file changed (-before +after):\n%s", diff)
	}
	if size, err := unix.Listxattr(b.secret, nil); err == nil && size > 0 {
		t.Errorf("the file has %d bytes of attributes, want none", size)
	}
}

// TestEmptying expects the errors of the filter: on this kernel Landlock may refuse
// some of these calls too, with another error.
func TestEmptying(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var terms []string
	for _, do := range []string{"truncate", "open", "open3", "openat2"} {
		terms = append(terms, do+":"+b.secret)
	}
	got := b.attempt(t, true, append(terms, "ftruncate:")...)
	for i, want := range []string{
		"operation not permitted", "operation not permitted", "operation not permitted", "function not implemented", "emptied",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("attempt %d: got %q, want %q", i, got[i], want)
		}
	}
	if raw, err := os.ReadFile(b.secret); err != nil || string(raw) != "the database" {
		t.Errorf("the file holds %q (%v)", raw, err)
	}
}

func TestOtherProcesses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	host := strconv.Itoa(os.Getpid())
	const refused = "operation not permitted"
	for term, want := range map[string]string{
		"kill:" + host: refused, "kill:-1": refused, "tgkill:" + host: refused, "pidfd:" + host: refused,
		// A limit of processor time would end the host.
		"limit:" + host: refused,
		"limit:0":       "limited", "kill:0": "sent",
		// The host would not know of a sibling, and never reap it.
		"clone:": refused, "clone3:": "function not implemented",
	} {
		if got := b.attempt(t, true, term)[0]; got != want {
			t.Errorf("%s: got %q, want %q", term, got, want)
		}
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(path, []byte("a binary"), 0o700); err != nil {
		t.Fatal(err)
	}
	hash, err := Hash(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Pinned(path, hash); err != nil {
		t.Errorf("got %v for the pinned binary", err)
	}
	if err := Pinned(path, strings.Repeat("f", 64)); err != ErrHash {
		t.Errorf("got %v for another hash, want %v", err, ErrHash)
	}
	if err := Pinned(filepath.Dir(path), hash); err == nil {
		t.Error("got no error for a folder")
	}
}
