package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestExtendPage runs every command of docs/extenders.md, unchanged, in an empty
// folder: it builds, tests, checks, pins and installs the kit's plugin, and finds its
// result in a scroll.
func TestExtendPage(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	for _, tool := range []string{"go", "make", "curl", "bash"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s is not installed", tool)
		}
	}
	page, err := os.ReadFile("../../docs/extenders.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for _, block := range blocks {
		script.WriteString(block[1])
	}
	if len(blocks) < 6 || strings.Count(script.String(), "scrollery") < 6 {
		t.Fatalf("the page has no commands any more: %s, want at least 6 blocks and count at least 6", script.String())
	}
	address := quietAddress(t)
	text := strings.ReplaceAll(script.String(), "127.0.0.1:8080", address)
	out := inKit(t, t.TempDir(), text, "SCROLLERY_ADDR="+address, "SCROLLERY_OPS_ADDR=127.0.0.1:0")
	for _, want := range []string{"ok   lets go of a cancelled call", "ready", "acme: a video of 21 seconds"} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands did not print %q:\n%s", want, out)
		}
	}
}

// quietAddress is free and stays so while the page's plugin is built: the system
// gives no one a port below its own range for outgoing connections.
func quietAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 21_000+rand.IntN(11_000)))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
	}
	t.Fatal("got no free port of 100, want one")
	return ""
}

// TestKitOfEachKind builds, tests and checks what `plugins new` writes.
func TestKitOfEachKind(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	if _, err := exec.LookPath("make"); err != nil && os.Getenv("CI") == "" {
		t.Skip("make is not installed")
	}
	out := inKit(t, t.TempDir(), `set -euo pipefail
for kind in plan source screen brief; do
  scrollery plugins new "my-$kind" --kind $kind --replace "$CHECKOUT"
  make -C "my-$kind" test install PLUGINS="$PWD/plugins"
  echo "$kind: $(wc -l < "my-$kind/go.sum") sums, $(wc -c < "my-$kind/my-$kind") bytes"
done
test -z "$(gofmt -l .)"
scrollery plugins new my-source --replace "$CHECKOUT" && exit 1
SCROLLERY_PLUGIN_DIR="$PWD/plugins" scrollery plugins list
echo tampered >> plugins/my-screen/my-screen
SCROLLERY_PLUGIN_DIR="$PWD/plugins" scrollery plugins list
`)
	for _, want := range []string{
		"reaches: api.example.com:443", "wants the secrets: token", "my-source is not empty",
		"refused", "not the pinned one",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
	if ready := regexp.MustCompile(`(?m)^my-(plan|source|screen|brief) +\w+ +0\.1\.0 +ready`).FindAllString(out, -1); len(ready) != 7 {
		t.Errorf("got %d plugins ready, %q, want 7\n%s", len(ready), ready, out)
	}
	sizes := regexp.MustCompile(`(?m)^\w+: (\d+) sums, (\d+) bytes`).FindAllStringSubmatch(out, -1)
	if len(sizes) != 4 {
		t.Fatalf("got the sizes of %d plugins, want 4:\n%s", len(sizes), out)
	}
	for _, size := range sizes {
		sums, _ := strconv.Atoi(size[1])
		bytes, _ := strconv.Atoi(size[2])
		t.Log(size[0])
		if sums >= 60 || bytes > 12_000_000 {
			t.Errorf("%s: want fewer than 60 sums and at most 12,000,000 bytes", size[0])
		}
	}
}

// inKit runs a script with `scrollery` on its path, and the checkout named.
func inKit(t *testing.T, dir, script string, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	wrapper := "#!/bin/sh\n" + asProgram + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "scrollery"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		within, cancel := context.WithDeadline(ctx, end.Add(-time.Minute))
		defer cancel()
		ctx = within
	}
	command := exec.CommandContext(ctx, "bash", "-c", script)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CHECKOUT="+checkout, "SCROLLERY_LOG_LEVEL=warn", "SCROLLERY_RATE_LIMIT=off")
	command.Env = append(command.Env, env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Minute
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
