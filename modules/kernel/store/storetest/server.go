package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// localServer starts a PostgreSQL for this test binary, once, and returns its
// address. The server's parent is a shell that reads a pipe from us: when this
// process ends, however it ends, the shell stops the server and removes its files.
func localServer() (string, error) {
	running, err := startServer()
	return running.address, err
}

// server is a running server. pipe must stay reachable: collected, it is closed.
type server struct {
	address string
	pipe    io.Closer
}

var startServer = sync.OnceValues(func() (server, error) {
	bin, err := serverPrograms()
	if err != nil {
		return server{}, err
	}
	dir, err := os.MkdirTemp(inMemory(), "storetest-postgres")
	if err != nil {
		return server{}, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return server{}, err
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		return server{}, err
	}
	shell := exec.Command("sh", "-c", `
		trap '' INT
		"$1/initdb" -D "$2/data" -U postgres -A trust -N >"$2/log" 2>&1 || exit 1
		"$1/postgres" -D "$2/data" -k "$2" -p "$3" -c listen_addresses=127.0.0.1 \
			-c fsync=off -c full_page_writes=off -c jit=off -c max_connections=600 >>"$2/log" 2>&1 </dev/null &
		server=$!
		cat >/dev/null
		kill -QUIT $server
		(sleep 2; kill -KILL $server) 2>/dev/null &
		wait $server
		rm -rf "$2"`, "sh", bin, dir, fmt.Sprint(port))
	if err := dropRoot(shell, dir); err != nil {
		return server{}, err
	}
	pipe, err := shell.StdinPipe()
	if err != nil {
		return server{}, err
	}
	if err := shell.Start(); err != nil {
		return server{}, err
	}
	address := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := onServer(address, "SELECT 1"); err == nil {
			return server{address, pipe}, nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	return server{}, fmt.Errorf("the server does not answer: %s", bytes.TrimSpace(log))
})

// inMemory is a folder in memory if there is room for a server, else "", the usual one. A
// database is hundreds of files: to make and remove them takes a disk's file system longer than
// the statements of most tests.
func inMemory() string {
	const look = `df -Pk /dev/shm | awk 'NR == 2 && $4 > 4194304 { printf "/dev/shm" }'`
	dir, err := exec.Command("sh", "-c", look).Output()
	if err != nil {
		return ""
	}
	return string(dir)
}

// serverPrograms returns the folder of initdb and postgres.
func serverPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	for _, pattern := range strings.Fields("/usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin") {
		found, err := filepath.Glob(filepath.Join(pattern, "initdb"))
		if err == nil && len(found) > 0 {
			return filepath.Dir(found[len(found)-1]), nil
		}
	}
	return "", errors.New("SCROLLERY_TEST_POSTGRES_URL is not set and initdb is not installed")
}
