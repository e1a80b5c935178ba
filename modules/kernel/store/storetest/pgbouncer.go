package storetest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// PgBouncer returns the configuration of the same database by a PgBouncer in
// transaction mode with so many connections to the server, which ends with the test. It
// skips the test where PgBouncer is not installed.
func PgBouncer(t testing.TB, cfg store.Config, size int) store.Config {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bin = "/usr/sbin/pgbouncer"; !exists(bin) {
			t.Skip("pgbouncer is not installed")
		}
	}
	server, err := url.Parse(cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	login := "user=" + server.User.Username()
	if password, set := server.User.Password(); set {
		login += " password=" + password
	}
	dir, err := os.MkdirTemp("", "storetest-pgbouncer") // open to another user, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	text := fmt.Sprintf(`[databases]
%s = host=%s port=%s %s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
logfile = %s
`, server.Path[1:], server.Hostname(), server.Port(), login, port, size, filepath.Join(dir, "log"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(bin, "-q", file)
	if err := dropRoot(command, dir); err != nil {
		t.Skip(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	pooled := *server
	pooled.Host = fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", pooled.Host)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("pgbouncer does not listen: %v: %s", err, log)
		}
	}
	through := store.Defaults()
	through.DataDir, through.MaxConns = cfg.DataDir, 8
	through.DatabaseURL, through.DirectURL = pooled.String(), cfg.DatabaseURL
	return through
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }
