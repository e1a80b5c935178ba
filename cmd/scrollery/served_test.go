package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

// served is a server in a process of its own, which can be killed and started
// again on the same data.
type served struct {
	dir, base string
	// ops is the address of the operations port.
	ops    string
	env    []string
	server *exec.Cmd
	stderr *lockedBuffer
	client *http.Client
}

// newServed prepares a server with a configuration in YAML; databaseURL is empty
// for SQLite. It is killed after the test.
func newServed(t *testing.T, dir, databaseURL, config string, env ...string) *served {
	t.Helper()
	address := apptest.FreeAddress(t)
	file := filepath.Join(dir, "scrollery.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ops := apptest.FreeAddress(t)
	s := &served{dir: dir, base: "http://" + address, ops: "http://" + ops, client: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
	s.env = append([]string{"SCROLLERY_CONFIG=" + file, "SCROLLERY_ADDR=" + address, "SCROLLERY_OPS_ADDR=" + ops, "SCROLLERY_RATE_LIMIT=off", "SCROLLERY_LOG_LEVEL=warn", "SCROLLERY_LAME_DUCK=0s"}, env...)
	if databaseURL != "" {
		s.env = append(s.env, "SCROLLERY_DATABASE_URL="+databaseURL)
	}
	t.Cleanup(s.kill)
	return s
}

func (s *served) start(t *testing.T) {
	t.Helper()
	if err := s.launch(); err != nil {
		t.Fatal(err)
	}
}

// launch starts the server and returns when it answers.
func (s *served) launch() error {
	s.server = program(context.Background(), s.dir, "serve")
	s.server.Env = append(s.server.Env, s.env...)
	s.stderr = &lockedBuffer{}
	s.server.Stderr = s.stderr
	if err := s.server.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		response, err := s.client.Get(s.base + "/v1/health")
		if err == nil {
			return response.Body.Close()
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("the server does not answer: %s", s.stderr)
}

// kill is kill -9.
func (s *served) kill() {
	if s.server != nil && s.server.Process != nil {
		_ = s.server.Process.Kill()
		_ = s.server.Wait()
	}
}

// command runs a command beside the server.
func (s *served) command(t *testing.T, args ...string) result {
	t.Helper()
	command := program(t.Context(), s.dir, args...)
	command.Env = append(command.Env, s.env...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	return result{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// lockedBuffer is written by a process's pipe and read by the test.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
