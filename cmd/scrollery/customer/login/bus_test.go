package login_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
)

// onTheBus marks the process that runs on a session bus of its own.
const onTheBus = "SCROLLERY_TEST_BUS"

// TestARealKeyring signs in and out with gnome-keyring on a session bus that lasts as long as
// the test, in a home that is deleted.
func TestARealKeyring(t *testing.T) {
	for _, program := range []string{"dbus-run-session", "dbus-send", "gnome-keyring-daemon", "secret-tool"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	home := t.TempDir()
	// The sockets have short paths: those of Unix have at most 107 bytes.
	runtime, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	// Before the daemon has its name on the bus, a call would start another one, which is locked.
	const script = `printf 'a password' | gnome-keyring-daemon --unlock --foreground --components=secrets >/dev/null 2>&1 &
daemon=$!
owned() { dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true; }
for i in 1 2 3 4 5 6 7 8 9 10; do owned && break; sleep 0.2; done
"$0" -test.run '^TestOnTheBus$' -test.v -test.timeout 20s
status=$?
kill $daemon
exit $status`
	command := exec.CommandContext(t.Context(), "dbus-run-session", "--", "sh", "-c", script, os.Args[0])
	command.WaitDelay = 5 * time.Second
	command.Env = []string{
		onTheBus + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "TMPDIR=" + runtime,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
	}
	begun := time.Now()
	out, err := command.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestOnTheBus")) {
		t.Fatalf("got %v after %v, want the test on the bus to pass:\n%s", err, time.Since(begun), out)
	}
	err = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(key)) {
			t.Errorf("got the key in the clear in %s, want it encrypted", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOnTheBus is the part of TestARealKeyring that runs on the bus.
func TestOnTheBus(t *testing.T) {
	if os.Getenv(onTheBus) == "" {
		t.Skip("runs in TestARealKeyring")
	}
	const server = "https://a.example.com"
	store, err := login.Default()
	if err != nil {
		t.Fatal(err)
	}
	if store.Keyring == nil {
		t.Fatal("got no keyring on a session bus, want one")
	}
	place, err := store.Save(login.Login{Server: server, Key: key, KeyID: "key_1"}, false)
	if err != nil || place != login.InKeyring {
		t.Fatalf("stored in %q, %v; want the keyring", place, err)
	}
	fresh, err := login.Default()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fresh.Current(); err != nil || got != (login.Login{Server: server, Key: key, KeyID: "key_1", Place: login.InKeyring}) {
		t.Errorf("got %+v, %v, want the stored key_1 from the keyring", got, err)
	}
	if got := lookUp(t, server); got != key {
		t.Errorf("another program finds %q, want the key", got)
	}
	file, err := os.ReadFile(filepath.Join(store.Dir, "login.json"))
	if err != nil || bytes.Contains(file, []byte(key)) || !bytes.Contains(file, []byte("inKeyring")) {
		t.Errorf("the file has %q, %v; want a note that the key is in the keyring", file, err)
	}
	if err := fresh.Remove(); err != nil {
		t.Error(err)
	}
	if got := lookUp(t, server); got != "" {
		t.Errorf("after signing out: got %q by another program, want nothing", got)
	}
	if got, err := fresh.Current(); !errors.Is(err, login.ErrNone) || got.Key != "" {
		t.Errorf("after signing out: got %+v, %v, want %v", got, err, login.ErrNone)
	}
}

// lookUp asks the keyring by secret-tool, which prints nothing for what is not there.
func lookUp(t *testing.T, server string) string {
	t.Helper()
	found, err := exec.CommandContext(t.Context(), "secret-tool", "lookup", "service", "scrollery", "username", server).Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(found))
}
